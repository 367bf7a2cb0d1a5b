#include "server/model/retry.h"

#include <limits>

#include "gtest/gtest.h"

namespace skiplane::model {
namespace {

using absl::Hours;
using absl::Minutes;
using absl::Seconds;
using absl::ZeroDuration;

constexpr int32_t kLastAttempt = std::numeric_limits<int32_t>::max();

RetryPolicy PolicyOf(RetryKind kind) {
  RetryPolicy policy;
  policy.kind = kind;
  return policy;
}

TEST(RetryTest, TheDefaultWaitsFiveTenFifteenMinutes) {
  EXPECT_EQ(RetryDelay(RetryPolicy(), 1, 0), Minutes(5));
  EXPECT_EQ(RetryDelay(RetryPolicy(), 2, 0), Minutes(10));
  EXPECT_EQ(RetryDelay(RetryPolicy(), 3, 0), Minutes(15));
}

TEST(RetryTest, FixedWaitsTheSameEveryTime) {
  const RetryPolicy policy = PolicyOf(RetryKind::kFixed);
  EXPECT_EQ(RetryDelay(policy, 1, 0), Minutes(5));
  EXPECT_EQ(RetryDelay(policy, 999, 0), Minutes(5));
}

TEST(RetryTest, ExponentialMultipliesByItsFactor) {
  RetryPolicy policy = PolicyOf(RetryKind::kExponential);
  policy.base_delay = Seconds(2);
  policy.factor = 3;
  EXPECT_EQ(RetryDelay(policy, 1, 0), Seconds(2));
  EXPECT_EQ(RetryDelay(policy, 2, 0), Seconds(6));
  EXPECT_EQ(RetryDelay(policy, 4, 0), Seconds(54));
}

TEST(RetryTest, TheTableGivesOneDelayPerAttemptAndRepeatsItsLast) {
  RetryPolicy policy = PolicyOf(RetryKind::kTable);
  policy.delays = {Seconds(1), Minutes(1), Hours(1)};
  EXPECT_EQ(RetryDelay(policy, 1, 0), Seconds(1));
  EXPECT_EQ(RetryDelay(policy, 2, 0), Minutes(1));
  EXPECT_EQ(RetryDelay(policy, 3, 0), Hours(1));
  EXPECT_EQ(RetryDelay(policy, 4, 0), Hours(1));
  EXPECT_EQ(RetryDelay(policy, kLastAttempt, 0), Hours(1));
}

TEST(RetryTest, AnEmptyTableFallsBackToTheBaseDelay) {
  EXPECT_EQ(RetryDelay(PolicyOf(RetryKind::kTable), 3, 0), kRetryDelayDefault);
}

TEST(RetryTest, NoKindExceedsTheMaximum) {
  for (const RetryKind kind :
       {RetryKind::kLinear, RetryKind::kFixed, RetryKind::kExponential, RetryKind::kTable}) {
    RetryPolicy policy = PolicyOf(kind);
    policy.delays = {Hours(1)};
    policy.max_delay = Minutes(2);
    EXPECT_EQ(RetryDelay(policy, 1, 0), Minutes(2)) << static_cast<int>(kind);
  }
}

TEST(RetryTest, TheLastPossibleAttemptSaturatesAtTheMaximum) {
  EXPECT_EQ(RetryDelay(PolicyOf(RetryKind::kLinear), kLastAttempt, 0), kRetryDelayMax);
  RetryPolicy policy = PolicyOf(RetryKind::kExponential);
  policy.factor = kRetryFactorMax;
  EXPECT_EQ(RetryDelay(policy, kLastAttempt, 0), kRetryDelayMax);
  policy.base_delay = kRetryDelayMax;
  EXPECT_EQ(RetryDelay(policy, kLastAttempt, 1), kRetryDelayMax);
}

TEST(RetryTest, AZeroBaseStaysZeroHoweverOftenItGrows) {
  RetryPolicy policy = PolicyOf(RetryKind::kExponential);
  policy.base_delay = ZeroDuration();
  policy.factor = kRetryFactorMax;
  EXPECT_EQ(RetryDelay(policy, 1, 0), ZeroDuration());
  EXPECT_EQ(RetryDelay(policy, kLastAttempt, 0), ZeroDuration());
}

TEST(RetryTest, JitterSpreadsTheDelayToBothSides) {
  RetryPolicy policy = PolicyOf(RetryKind::kFixed);
  policy.base_delay = Seconds(100);
  policy.jitter = 0.1;
  EXPECT_EQ(RetryDelay(policy, 1, -1), Seconds(90));
  EXPECT_EQ(RetryDelay(policy, 1, 0), Seconds(100));
  EXPECT_EQ(RetryDelay(policy, 1, 0.5), Seconds(105));
  EXPECT_NEAR(absl::ToDoubleSeconds(RetryDelay(policy, 1, 1)), 110, 1e-6);
}

TEST(RetryTest, WithoutJitterTheRandomNumberChangesNothing) {
  EXPECT_EQ(RetryDelay(RetryPolicy(), 1, 1), Minutes(5));
  EXPECT_EQ(RetryDelay(RetryPolicy(), 1, -1), Minutes(5));
}

TEST(RetryTest, JitterNeverExceedsTheMaximum) {
  RetryPolicy policy = PolicyOf(RetryKind::kFixed);
  policy.base_delay = policy.max_delay = Minutes(1);
  policy.jitter = kRetryJitterMax;
  EXPECT_EQ(RetryDelay(policy, 1, 1), Minutes(1));
  EXPECT_EQ(RetryDelay(policy, 1, -1), Seconds(30));
}

TEST(RetryTest, AnAttemptBeforeTheFirstCountsAsTheFirst) {
  RetryPolicy policy = PolicyOf(RetryKind::kTable);
  policy.delays = {Seconds(1), Seconds(2)};
  EXPECT_EQ(RetryDelay(policy, 0, 0), Seconds(1));
  EXPECT_EQ(RetryDelay(policy, -5, 0), Seconds(1));
  EXPECT_EQ(RetryDelay(RetryPolicy(), 0, 0), Minutes(5));
}

TEST(RetryTest, ABrokenPolicyNeverGivesANegativeDelay) {
  RetryPolicy policy = PolicyOf(RetryKind::kLinear);
  policy.base_delay = Seconds(-5);
  EXPECT_EQ(RetryDelay(policy, kLastAttempt, 0), ZeroDuration());
  policy.base_delay = Seconds(5);
  policy.jitter = 3;
  EXPECT_EQ(RetryDelay(policy, 1, -1), ZeroDuration());
}

}  // namespace
}  // namespace skiplane::model
