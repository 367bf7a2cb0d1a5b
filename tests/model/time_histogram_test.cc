#include "server/model/time_histogram.h"

#include "gmock/gmock.h"

namespace skiplane::model {
namespace {

TEST(TimeHistogramTest, PercentilesAreExactToATenth) {
  for (const int64_t micros : {1000, 1188, 1190, 1999, 2000, 123456, 60000000, 999999999}) {
    TimeHistogram times;
    const absl::Duration time = absl::Microseconds(micros);
    times.Add(time);
    const double ratio = absl::FDivDuration(times.Percentile(0.5), time);
    EXPECT_GT(ratio, 0.9) << micros;
    EXPECT_LT(ratio, 1.1) << micros;
  }
}

TEST(TimeHistogramTest, WhatIsBelowAMillisecondOrVeryLongHasABucket) {
  TimeHistogram times;
  times.Add(absl::Seconds(-5));
  times.Add(absl::Microseconds(999));
  EXPECT_EQ(times.first(), 0);
  EXPECT_LE(times.Percentile(1), absl::Milliseconds(1));
  times.Add(absl::Hours(24 * 10000));
  EXPECT_EQ(times.count(), 3);
  EXPECT_GT(times.Percentile(1), absl::Hours(24 * 30));
}

TEST(TimeHistogramTest, SharesCountTimes) {
  TimeHistogram times;
  for (int i = 0; i < 99; ++i) times.Add(absl::Milliseconds(10));
  times.Add(absl::Seconds(10));
  EXPECT_LT(times.Percentile(0.5), absl::Milliseconds(12));
  EXPECT_LT(times.Percentile(0.99), absl::Milliseconds(12));
  EXPECT_GT(times.Percentile(1), absl::Seconds(9));
  EXPECT_EQ(TimeHistogram().Percentile(0.5), absl::ZeroDuration());
}

TEST(TimeHistogramTest, TwoAddUpInAnyOrder) {
  TimeHistogram few, many;
  few.Add(absl::Seconds(1));
  many.Add(absl::Milliseconds(2));
  many.Add(absl::Hours(1));
  TimeHistogram one = few, other = many;
  one.Merge(many);
  other.Merge(few);
  EXPECT_EQ(one.count(), 3);
  EXPECT_EQ(one.first(), other.first());
  EXPECT_THAT(one.counts(), ::testing::ElementsAreArray(other.counts()));
  one.AddTo(-1, 1);
  one.AddTo(TimeHistogram::kBuckets, 1);
  EXPECT_EQ(one.count(), 3) << "no such buckets";
}

}  // namespace
}  // namespace skiplane::model
