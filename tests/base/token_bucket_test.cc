// How many tokens there are, and when the next ones come.
#include "server/base/token_bucket.h"

#include "gtest/gtest.h"

namespace skiplane::base {
namespace {

using std::chrono::seconds;

constexpr SteadyTime kStart{};

TEST(TokenBucketTest, ABurstIsThereAtOnceAndThenTheRate) {
  TokenBucket bucket({.per_second = 2, .burst = 4}, kStart);
  EXPECT_EQ(bucket.Take(4, kStart), absl::ZeroDuration());
  EXPECT_EQ(bucket.Take(1, kStart), absl::Milliseconds(500));
  EXPECT_EQ(bucket.Take(2, kStart), absl::Seconds(1));
  EXPECT_EQ(bucket.Take(2, kStart + seconds(1)), absl::ZeroDuration());
  EXPECT_EQ(bucket.Take(1, kStart + seconds(1)), absl::Milliseconds(500));
}

TEST(TokenBucketTest, NeverMoreThanTheBurstComesTogether) {
  TokenBucket bucket({.per_second = 2, .burst = 4}, kStart);
  EXPECT_TRUE(bucket.IsFull(kStart));
  EXPECT_EQ(bucket.Take(4, kStart + seconds(100)), absl::ZeroDuration());
  EXPECT_FALSE(bucket.IsFull(kStart + seconds(101)));
  EXPECT_GT(bucket.Take(4, kStart + seconds(101)), absl::ZeroDuration());
  EXPECT_TRUE(bucket.IsFull(kStart + seconds(102)));
}

TEST(TokenBucketTest, MoreThanTheBurstIsPaidForAfterwards) {
  TokenBucket bucket({.per_second = 1, .burst = 2}, kStart);
  EXPECT_EQ(bucket.Take(10, kStart), absl::ZeroDuration());
  EXPECT_EQ(bucket.Take(1, kStart), absl::Seconds(9));
  EXPECT_EQ(bucket.Take(10, kStart + seconds(9)), absl::Seconds(1));
  EXPECT_EQ(bucket.Take(1, kStart + seconds(9)), absl::ZeroDuration());
}

TEST(TokenBucketTest, WhatIsGivenBackIsThereAgain) {
  TokenBucket bucket({.per_second = 1, .burst = 1}, kStart);
  EXPECT_EQ(bucket.Take(1, kStart), absl::ZeroDuration());
  bucket.GiveBack(1);
  EXPECT_EQ(bucket.Take(1, kStart), absl::ZeroDuration());
}

TEST(TokenBucketTest, AnotherRateTakesOverWhatIsThere) {
  TokenBucket bucket({.per_second = 1, .burst = 10}, kStart);
  bucket.SetRate({.per_second = 4, .burst = 2}, kStart);
  EXPECT_EQ(bucket.Take(2, kStart), absl::ZeroDuration());
  EXPECT_EQ(bucket.Take(1, kStart), absl::Milliseconds(250));
}

}  // namespace
}  // namespace skiplane::base
