// How long things took, as counts of times that are about equal: four of these for each doubling,
// from a millisecond to more than 30 days. Two of them add up, so that brokers and minutes can be
// put together. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

namespace skiplane::model {

class TimeHistogram {
 public:
  static constexpr int kBuckets = 128;  // the last one also for what is longer

  // A time below zero, as clocks may tell, counts as zero.
  void Add(absl::Duration time);
  // So many times of one bucket, 0 to kBuckets - 1; others are ignored.
  void AddTo(int64_t bucket, int64_t count);
  void Merge(const TimeHistogram& other);

  int64_t count() const { return count_; }

  // What a `share` of the times, 0 to 1, did not exceed: within 10 %, below a millisecond within
  // that. Zero if there are none.
  absl::Duration Percentile(double share) const;

  // The bucket of counts()[0], and the counts up to the last bucket that has any.
  int first() const { return first_; }
  absl::Span<const int32_t> counts() const { return counts_; }

 private:
  int first_ = 0;
  std::vector<int32_t> counts_;
  int64_t count_ = 0;
};

}  // namespace skiplane::model
