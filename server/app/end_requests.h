// Distinguishes a repeated signal of one request to end from a second request.
//
// GNU timeout, and a terminal together with a script's trap, signal twice: what comes within a
// second of the first is the same request. Not thread-safe.
#pragma once

#include <chrono>
#include <optional>

namespace skiplane::app {

class EndRequests {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  enum class Kind {
    kFirst,   // end in order
    kRepeat,  // nothing new
    kAtOnce,  // whoever asks does not want to wait
  };

  Kind Add(SteadyTime now) {
    if (!first_) {
      first_ = now;
      return Kind::kFirst;
    }
    return now - *first_ < std::chrono::seconds(1) ? Kind::kRepeat : Kind::kAtOnce;
  }

 private:
  std::optional<SteadyTime> first_;
};

}  // namespace skiplane::app
