#include "gtest/gtest.h"
#include "server/upkeep/reclaimer.h"

namespace skiplane::upkeep {
namespace {

store::Lead LeadAfter(absl::Duration gap) { return {.is_leader = true, .reclaimed_ago = gap}; }

TEST(GraceTest, IsDueWhenNobodyEverLookedForTheDead) {
  EXPECT_TRUE(GraceIsDue({.is_leader = true, .reclaimed_ago = {}}, absl::ZeroDuration(), false));
}

TEST(GraceTest, IsNotDueInTheUsualPace) {
  EXPECT_FALSE(GraceIsDue(LeadAfter(absl::Seconds(1.9)), absl::ZeroDuration(), false));
}

TEST(GraceTest, IsDueAfterAGap) {
  EXPECT_TRUE(GraceIsDue(LeadAfter(absl::Seconds(2.1)), absl::ZeroDuration(), false));
}

TEST(GraceTest, IsDueWhenTheDatabaseStoodStillAfterItTookTheTime) {
  EXPECT_TRUE(GraceIsDue(LeadAfter(absl::Seconds(1)), absl::Seconds(30), false));
}

TEST(GraceTest, IsDueWhenTheConnectionFailedHoweverShortTheGapWas) {
  EXPECT_TRUE(GraceIsDue(LeadAfter(absl::Milliseconds(1)), absl::ZeroDuration(), true));
}

}  // namespace
}  // namespace skiplane::upkeep
