// How long to wait before the next attempt to connect: grows from 50 ms to 2 s, with jitter so that
// the threads of many brokers do not come back in step. Not thread-safe.
#pragma once

#include <chrono>
#include <random>

namespace skiplane::pg {

class Backoff {
 public:
  std::chrono::milliseconds Next();
  void Reset() { limit_ = kLeast; }

 private:
  static constexpr std::chrono::milliseconds kLeast{50};
  static constexpr std::chrono::milliseconds kMost{2000};

  std::chrono::milliseconds limit_ = kLeast;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace skiplane::pg
