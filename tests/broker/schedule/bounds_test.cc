#include "server/broker/schedule/bounds.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

absl::Time At(int64_t micros) { return absl::FromUnixMicros(micros); }

store::Bound Key(int16_t priority, int64_t micros, int64_t id) {
  return {priority, At(micros), id};
}

store::Bound Only(const Bounds& bounds) {
  const std::vector<store::Bound> current = bounds.Current();
  EXPECT_EQ(current.size(), 1u);
  return current.empty() ? store::Bound() : current.front();
}

TEST(BoundsTest, ANewPriorityStartsAtTheStart) {
  Bounds bounds;
  bounds.Lower(3, At(500));
  EXPECT_EQ(Only(bounds).priority, 3);
  EXPECT_EQ(Only(bounds).schedule_time, absl::InfinitePast());
  EXPECT_FALSE(bounds.IsRaised());
}

TEST(BoundsTest, ALeaseRaisesItToItsLastKey) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  const Bounds::Snapshot snapshot = bounds.Begin();
  bounds.End(snapshot, {Key(0, 150, 7)});
  EXPECT_EQ(Only(bounds).schedule_time, At(150));
  EXPECT_EQ(Only(bounds).id, 7);
  EXPECT_TRUE(bounds.IsRaised());
}

TEST(BoundsTest, ACommitDuringTheStatementHoldsTheRaiseBack) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  const Bounds::Snapshot snapshot = bounds.Begin();
  bounds.Lower(0, At(120));  // the statement's snapshot may not have seen it
  bounds.End(snapshot, {Key(0, 150, 7)});
  EXPECT_EQ(Only(bounds).schedule_time, At(120));
  EXPECT_EQ(Only(bounds).id, 0);
}

TEST(BoundsTest, ACommitBelowLowersItJustBeforeTheTask) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  bounds.End(bounds.Begin(), {Key(0, 150, 7)});
  bounds.Lower(0, At(130));
  EXPECT_EQ(Only(bounds).schedule_time, At(130));
  EXPECT_EQ(Only(bounds).id, 0);  // every task of that run time comes after it
}

TEST(BoundsTest, AreKeptWhenThePrioritiesAreToBeReadAgain) {
  Bounds bounds;
  bounds.SetPriorities({0}, false);
  bounds.End(bounds.Begin(), {Key(0, 150, 7)});
  bounds.Unread();
  EXPECT_FALSE(bounds.IsRead());
  bounds.SetPriorities({0, 1}, false);
  EXPECT_TRUE(bounds.IsRead());
  EXPECT_EQ(bounds.Current().front().id, 7);
  EXPECT_EQ(bounds.Current().back().id, 0);
}

TEST(BoundsTest, ACommitAboveLeavesIt) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  bounds.End(bounds.Begin(), {Key(0, 150, 7)});
  bounds.Lower(0, At(151));
  EXPECT_EQ(Only(bounds).schedule_time, At(150));
}

TEST(BoundsTest, AStatementThatEndsLateNeverLowers) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  const Bounds::Snapshot slow = bounds.Begin();
  const Bounds::Snapshot fast = bounds.Begin();
  bounds.End(fast, {Key(0, 200, 9)});
  bounds.End(slow, {Key(0, 150, 7)});
  EXPECT_EQ(Only(bounds).schedule_time, At(200));
}

TEST(BoundsTest, AFailureSendsAllBackToTheStart) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  bounds.End(bounds.Begin(), {Key(0, 150, 7)});
  bounds.Fail(bounds.Begin());
  EXPECT_FALSE(bounds.IsRaised());
}

TEST(BoundsTest, AResetForgetsStatementsThatRan) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  const Bounds::Snapshot snapshot = bounds.Begin();
  bounds.Reset();
  bounds.End(snapshot, {Key(0, 150, 7)});
  EXPECT_FALSE(bounds.IsRaised());
}

TEST(BoundsTest, ATaskFoundFreeIsLeasedNext) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  bounds.End(bounds.Begin(), {Key(0, 150, 7)});
  bounds.LowerTo(Key(0, 140, 5));
  EXPECT_EQ(Only(bounds).schedule_time, At(140));
  EXPECT_EQ(Only(bounds).id, 4);
}

TEST(BoundsTest, PrioritiesThatAreGoneAreForgottenUnlessKept) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  bounds.Lower(5, At(100));
  bounds.SetPriorities({5, 6}, /*keep_others=*/true);
  EXPECT_EQ(bounds.Current().size(), 3u);
  bounds.SetPriorities({5, 6}, /*keep_others=*/false);
  ASSERT_EQ(bounds.Current().size(), 2u);
  EXPECT_EQ(bounds.Current().front().priority, 5);
}

TEST(BoundsTest, KnownPrioritiesKeepTheirBoundOverALook) {
  Bounds bounds;
  bounds.Lower(0, At(100));
  bounds.End(bounds.Begin(), {Key(0, 150, 7)});
  bounds.SetPriorities({0}, /*keep_others=*/false);
  EXPECT_EQ(Only(bounds).schedule_time, At(150));
}

TEST(BoundsTest, KnowsAtEachStepWhetherAnyIsRaised) {
  Bounds bounds;
  bounds.SetPriorities({0, 5}, /*keep_others=*/false);
  EXPECT_FALSE(bounds.IsRaised());
  bounds.End(bounds.Begin(), {Key(0, 150, 7), Key(5, 100, 8)});
  bounds.Lower(0, absl::InfinitePast());
  EXPECT_TRUE(bounds.IsRaised());
  bounds.SetPriorities({0}, /*keep_others=*/false);
  EXPECT_FALSE(bounds.IsRaised()) << "the one that was is gone";
  bounds.End(bounds.Begin(), {Key(0, 150, 7)});
  EXPECT_TRUE(bounds.IsRaised());
  bounds.Reset();
  EXPECT_FALSE(bounds.IsRaised());
}

// A lease passes rows that others hold.
TEST(BoundsTest, AProbeLooksFromWhereABoundWasBeforeItWasRaised) {
  const auto look = [](Bounds& bounds) { return bounds.LookFrom().front().schedule_time; };
  Bounds bounds;
  bounds.SetPriorities({0}, /*keep_others=*/false);
  bounds.End(bounds.Begin(), {Key(0, 100, 1)});
  EXPECT_EQ(look(bounds), absl::InfinitePast());
  EXPECT_EQ(look(bounds), At(100));
  bounds.End(bounds.Begin(), {Key(0, 200, 2)});
  bounds.End(bounds.Begin(), {Key(0, 300, 3)});
  EXPECT_EQ(look(bounds), At(100));
  bounds.Lower(0, At(250));
  EXPECT_EQ(look(bounds), At(250));
}

TEST(BoundsTest, CurrentIsInOrderOfUrgency) {
  Bounds bounds;
  for (const int priority : {7, -3, 0}) bounds.Lower(static_cast<int16_t>(priority), At(1));
  const std::vector<store::Bound> current = bounds.Current();
  ASSERT_EQ(current.size(), 3u);
  EXPECT_EQ(current[0].priority, -3);
  EXPECT_EQ(current[2].priority, 7);
}

}  // namespace
}  // namespace skiplane::broker
