// 128 random bits as 32 hexadecimal digits: request ids and worker ids. Thread-safe.
#pragma once

#include <string>

namespace skiplane::internal {

std::string RandomId();

}  // namespace skiplane::internal
