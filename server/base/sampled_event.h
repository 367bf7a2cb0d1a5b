// A debug event of a path that runs often: at most kPerSecond lines of it are written in a second,
// and the next line tells in `left_out` how many were not.
//
//   static constinit base::SampledEvent leased("leased");
//   if (leased.Wanted()) leased.Write({{"queue", name}, {"tasks", absl::StrCat(n)}});
//
// Unless the level is debug, that costs one relaxed load. Fields as for Log(). Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/base/log.h"
#include "server/base/mutex.h"

namespace skiplane::base {

// Allows so many in each second, and counts the others. Not thread-safe.
class SecondLimit {
 public:
  static constexpr int kPerSecond = 20;

  bool Allows(std::chrono::steady_clock::time_point now) {
    if (now - begin_ >= std::chrono::seconds(1)) {
      begin_ = now;
      allowed_ = 0;
    }
    if (allowed_ == kPerSecond) {
      ++left_out_;
      return false;
    }
    ++allowed_;
    return true;
  }

  // Since this was asked last.
  int64_t TakeLeftOut() { return std::exchange(left_out_, 0); }

 private:
  std::chrono::steady_clock::time_point begin_{};
  int allowed_ = 0;
  int64_t left_out_ = 0;
};

class SampledEvent {
 public:
  constexpr explicit SampledEvent(absl::string_view name) : name_(name) {}

  // To be asked before the fields are made, and followed by Write() if true.
  bool Wanted() { return IsLogged(LogLevel::kDebug) && Take(); }
  void Write(LogFields fields);

 private:
  bool Take();

  const absl::string_view name_;
  Mutex mutex_;
  SecondLimit limit_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::base
