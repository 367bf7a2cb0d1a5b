#include "server/broker/lease/lane.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

using base::SteadyTime;

const SteadyTime kNow = std::chrono::steady_clock::now();
const SteadyTime kLater = kNow + std::chrono::seconds(5);

store::Claimable Tasks(int64_t count, bool can_run = true) {
  return {1, 0, 0, can_run, count, absl::FromUnixMicros(100)};
}

TEST(LaneTest, ANewLaneIsInDoubt) {
  EXPECT_TRUE(Lane({1, 0}).InDoubt(kNow));
}

// A hint of less urgent tasks once overtook the first look, and its tasks those of others.
TEST(LaneTest, AHintBeforeTheFirstLookDoesNotOvertakeMoreUrgentTasks) {
  Lane lane({1, 0});
  const int64_t before = lane.committed;
  lane.Committed(Tasks(1));
  EXPECT_FALSE(lane.MayLease());
  EXPECT_TRUE(lane.InDoubt(kNow));
  lane.Looked(before, 0, kLater);
  EXPECT_TRUE(lane.MayLease());
  EXPECT_FALSE(lane.InDoubt(kNow));
}

TEST(LaneTest, AnEmptyLookMakesItCertainForAWhile) {
  Lane lane({1, 0});
  lane.Looked(lane.committed, 0, kLater);
  EXPECT_FALSE(lane.InDoubt(kNow));
  EXPECT_TRUE(lane.InDoubt(kLater));
}

TEST(LaneTest, ACommitDuringALookKeepsTheDoubt) {
  Lane lane({1, 0});
  const int64_t before = lane.committed;
  lane.Committed(Tasks(1, /*can_run=*/false));
  lane.Looked(before, 0, kLater);
  EXPECT_TRUE(lane.InDoubt(kNow));
}

TEST(LaneTest, LocalCommitsAreCountedExactly) {
  Lane lane({1, 0});
  lane.Committed(Tasks(3));
  lane.Committed(Tasks(2));
  EXPECT_EQ(lane.expected, 5);
  const int64_t before = lane.Ask(4);
  EXPECT_EQ(lane.expected, 1);
  lane.Got(4, 4, /*is_cut=*/false, before);
  EXPECT_EQ(lane.expected, 1);
}

TEST(LaneTest, TasksOfLaterAreNotExpectedYet) {
  Lane lane({1, 0});
  lane.Committed(Tasks(3, /*can_run=*/false));
  EXPECT_EQ(lane.expected, 0);
}

TEST(LaneTest, AShortAnswerEndsTheBeliefInMany) {
  Lane lane({1, 0});
  lane.expected = Lane::kMany;
  const int64_t before = lane.Ask(100);
  EXPECT_EQ(lane.expected, Lane::kMany);
  lane.Got(100, 60, /*is_cut=*/false, before);
  EXPECT_EQ(lane.expected, 0);
  EXPECT_TRUE(lane.InDoubt(kNow));
}

TEST(LaneTest, AShortAnswerKeepsWhatWasCommittedMeanwhile) {
  Lane lane({1, 0});
  lane.expected = Lane::kMany;
  const int64_t before = lane.Ask(100);
  lane.Committed(Tasks(7));
  lane.Got(100, 60, /*is_cut=*/false, before);
  EXPECT_EQ(lane.expected, 7);
}

TEST(LaneTest, AnAnswerCutByBytesIsNotShort) {
  Lane lane({1, 0});
  lane.expected = Lane::kMany;
  const int64_t before = lane.Ask(100);
  lane.Got(100, 3, /*is_cut=*/true, before);
  EXPECT_EQ(lane.expected, Lane::kMany);
  lane.expected = 100;
  const int64_t again = lane.Ask(100);
  lane.Got(100, 3, /*is_cut=*/true, again);
  EXPECT_EQ(lane.expected, 97);
}

TEST(LaneTest, AFullAnswerToAGuessAsksForTwiceAsMany) {
  Lane lane({1, 0});
  lane.expected = 16;
  lane.is_exact = false;
  const int64_t before = lane.Ask(16);
  lane.Got(16, 16, /*is_cut=*/false, before);
  EXPECT_EQ(lane.expected, 32);
}

TEST(LaneTest, AFullAnswerToAnExactNumberLeavesADoubt) {
  Lane lane({1, 0});
  lane.Looked(lane.committed, 0, kLater);
  lane.Committed(Tasks(2));
  const int64_t before = lane.Ask(2);
  lane.Got(2, 2, /*is_cut=*/false, before);
  EXPECT_EQ(lane.expected, 0);
  EXPECT_TRUE(lane.InDoubt(kNow));
}

TEST(LaneTest, WhatALookFindsIsExpected) {
  Lane lane({1, 0});
  lane.Looked(lane.committed, 12, kLater);
  EXPECT_EQ(lane.expected, 12);
  EXPECT_FALSE(lane.is_exact);
}

// While it may have something it comes first; whatever ends that is a reason to ask the next lane.
TEST(LaneTest, BlocksLaterLanesOnlyWhileItMayHaveSomething) {
  Lane lane({1, 0});
  auto queue = std::make_shared<model::Queue>();
  lane.queue = queue;
  EXPECT_TRUE(lane.BlocksLater(kNow)) << "nobody knows";
  lane.look_allowed = kLater;
  EXPECT_FALSE(lane.BlocksLater(kNow)) << "nobody will know soon";
  lane.is_looking = true;
  EXPECT_TRUE(lane.BlocksLater(kNow));
  lane.is_looking = false;
  lane.Looked(lane.committed, 0, kLater);
  EXPECT_FALSE(lane.BlocksLater(kNow));
  lane.Committed(Tasks(1));
  EXPECT_TRUE(lane.BlocksLater(kNow));
  auto paused = std::make_shared<model::Queue>();
  paused->pause = model::PauseMode::kLease;
  lane.queue = paused;
  EXPECT_FALSE(lane.BlocksLater(kNow));
}

TEST(LaneTest, WhatIsDueIsExpected) {
  Lane lane({1, 0});
  lane.Looked(lane.committed, 0, kLater);
  lane.next_due = kNow + std::chrono::seconds(1);
  lane.Passed(kNow);
  EXPECT_FALSE(lane.MayLease());
  lane.Passed(lane.next_due);
  EXPECT_TRUE(lane.MayLease());
  EXPECT_FALSE(lane.is_exact);
}

TEST(LaneTest, AStatementThatDidNotRunTakesNothing) {
  Lane lane({1, 0});
  lane.Committed(Tasks(5));
  lane.Ask(3);
  lane.Unask(3);
  EXPECT_EQ(lane.expected, 5);
  lane.expected = Lane::kMany;
  lane.Ask(3);
  lane.Unask(3);
  EXPECT_EQ(lane.expected, Lane::kMany);
}

TEST(LaneTest, DistrustEndsCertaintyAndRaisedBounds) {
  Lane lane({1, 0});
  lane.Committed(Tasks(1));
  lane.bounds.End(lane.bounds.Begin(), {{0, absl::FromUnixMicros(200), 9}});
  lane.expected = 0;
  lane.certain_until = kLater;
  lane.Distrust();
  EXPECT_TRUE(lane.InDoubt(kNow));
  EXPECT_FALSE(lane.bounds.IsRaised());
}

}  // namespace
}  // namespace skiplane::broker
