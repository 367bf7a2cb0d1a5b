#include "server/model/time_histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace skiplane::model {
namespace {

constexpr int kPerDoubling = 4;

// 1,000 times 2^(1/4), 2^(2/4) and 2^(3/4): where the quarters of a doubling begin.
constexpr std::array<int64_t, kPerDoubling - 1> kParts = {1189, 1414, 1682};

// 0 below a millisecond; 1 + 4 d + p of 2^(d + p/4) milliseconds and more.
int BucketOf(absl::Duration time) {
  const int64_t micros = absl::ToInt64Microseconds(time);
  if (micros < 1000) return 0;
  const int doubling = 63 - std::countl_zero(static_cast<uint64_t>(micros / 1000));
  const int64_t base = micros >> doubling;  // 1,000 to 2,000
  const auto part = std::upper_bound(kParts.begin(), kParts.end(), base) - kParts.begin();
  return std::min(1 + kPerDoubling * doubling + static_cast<int>(part),
                  TimeHistogram::kBuckets - 1);
}

// The middle of a bucket, by factors.
absl::Duration MiddleOf(int bucket) {
  if (bucket == 0) return absl::Microseconds(500);
  return absl::Microseconds(1000 * std::exp2((bucket - 0.5) / kPerDoubling));
}

}  // namespace

void TimeHistogram::Add(absl::Duration time) { AddTo(BucketOf(time), 1); }

void TimeHistogram::AddTo(int64_t bucket, int64_t count) {
  if (bucket < 0 || bucket >= kBuckets || count <= 0) return;
  const int at = static_cast<int>(bucket);
  if (counts_.empty()) first_ = at;
  if (at < first_) {
    counts_.insert(counts_.begin(), static_cast<size_t>(first_ - at), 0);
    first_ = at;
  }
  const auto index = static_cast<size_t>(at - first_);
  if (index >= counts_.size()) counts_.resize(index + 1);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  counts_[index] = static_cast<int32_t>(std::min(kMost, counts_[index] + count));
  count_ += count;
}

void TimeHistogram::Merge(const TimeHistogram& other) {
  for (size_t i = 0; i < other.counts_.size(); ++i) {
    AddTo(other.first_ + static_cast<int64_t>(i), other.counts_[i]);
  }
}

absl::Duration TimeHistogram::Percentile(double share) const {
  const auto wanted = static_cast<int64_t>(std::ceil(share * static_cast<double>(count_)));
  int64_t seen = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted && seen > 0) return MiddleOf(first_ + static_cast<int>(i));
  }
  return absl::ZeroDuration();
}

}  // namespace skiplane::model
