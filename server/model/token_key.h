// A key that proves that a lease token is ours. All brokers of a database share them (store).
#pragma once

#include <cstdint>
#include <string>

namespace skiplane::model {

struct TokenKey {
  int16_t id = 0;      // above 0; later keys have greater ones
  std::string secret;  // 32 random bytes; never logged
  bool signs = false;  // its time to sign has come; others only verify
};

}  // namespace skiplane::model
