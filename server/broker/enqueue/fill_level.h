// How much of something a queue holds, as a broker knows it between two counts of the database:
// what was counted, and what was let in since. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "server/base/timer.h"

namespace skiplane::broker {

class FillLevel {
 public:
  // How long a count is good while there seems to be room, and when there seems to be none. A count
  // that takes long comes more seldom: it may take a twentieth of the time.
  static constexpr std::chrono::milliseconds kTrusted{1000};
  static constexpr std::chrono::milliseconds kRecount{200};
  static constexpr int kPauseFactor = 20;

  int64_t Now() const { return counted_ + added_; }
  bool IsOld(base::SteadyTime now) const {
    return !is_known_ || now - counted_at_ > std::max<base::SteadyTime::duration>(kTrusted, pause_);
  }
  bool MayCount(base::SteadyTime now) const {
    return !is_known_ ||
           now - counted_at_ >= std::max<base::SteadyTime::duration>(kRecount, pause_);
  }

  void Take(int64_t amount) {
    added_ += amount;
    open_ += amount;
  }
  void GiveBack(int64_t amount) {
    added_ -= amount;
    open_ -= amount;
  }
  // What was taken has been written, or will not be.
  void Ended(int64_t amount) { open_ -= amount; }

  // What is written from now on a count may or may not see: it is added all the same.
  void BeginCount() {
    counted_ += added_ - open_;
    added_ = open_;
  }
  void Counted(int64_t amount, base::SteadyTime begin, base::SteadyTime now) {
    counted_ = amount;
    CountEnded(begin, now);
  }
  // Also one that failed: what was known stays.
  void CountEnded(base::SteadyTime begin, base::SteadyTime now) {
    is_known_ = true;
    counted_at_ = now;
    pause_ = kPauseFactor * (now - begin);
  }

 private:
  int64_t counted_ = 0;
  int64_t added_ = 0;  // let in since, and what was not written then
  int64_t open_ = 0;   // let in, and not written yet
  bool is_known_ = false;
  base::SteadyTime counted_at_{};
  base::SteadyTime::duration pause_{};
};

}  // namespace skiplane::broker
