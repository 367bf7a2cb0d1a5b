#include "server/broker/schedule/belief.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

using base::SteadyTime;
using Kind = Belief::Kind;

const SteadyTime kNow = std::chrono::steady_clock::now();
const SteadyTime kLater = kNow + std::chrono::seconds(5);

// Believed to be empty until kLater.
Belief Empty() {
  Belief belief;
  belief.Probed(belief.announced(), 0, kLater);
  return belief;
}

Belief AtLeast(int64_t count) {
  Belief belief;
  belief.Probed(belief.announced(), count, kLater);
  return belief;
}

TEST(BeliefTest, NothingIsKnownAtFirst) { EXPECT_EQ(Belief().KindAt(kNow), Kind::kUnknown); }

TEST(BeliefTest, AnEmptyProbeIsBelievedForAWhile) {
  EXPECT_EQ(Empty().KindAt(kNow), Kind::kEmpty);
  EXPECT_EQ(Empty().KindAt(kLater), Kind::kUnknown);
}

TEST(BeliefTest, ACommitDuringAProbeKeepsItUnknown) {
  Belief belief;
  const int64_t before = belief.announced();
  belief.Announced(1, /*are_ready=*/false);
  belief.Probed(before, 0, kLater);
  EXPECT_EQ(belief.KindAt(kNow), Kind::kUnknown);
}

TEST(BeliefTest, CommitsAreCountedExactly) {
  Belief belief = Empty();
  belief.Announced(3, true);
  belief.Announced(2, true);
  EXPECT_EQ(belief.count(), 5);
  const int64_t before = belief.announced();
  belief.Asked(4);
  EXPECT_EQ(belief.count(), 1);
  belief.Leased(4, 4, /*is_cut=*/false, before);
  EXPECT_EQ(belief.count(), 1);
}

TEST(BeliefTest, TasksOfLaterAreNotExpectedYet) {
  Belief belief = Empty();
  belief.Announced(3, /*are_ready=*/false);
  EXPECT_EQ(belief.KindAt(kNow), Kind::kEmpty);
}

TEST(BeliefTest, AShortAnswerEndsTheBeliefInPlenty) {
  Belief belief = AtLeast(Belief::kPlenty);
  const int64_t before = belief.announced();
  belief.Asked(100);
  EXPECT_EQ(belief.count(), Belief::kPlenty);
  belief.Leased(100, 60, /*is_cut=*/false, before);
  EXPECT_EQ(belief.KindAt(kNow), Kind::kUnknown);
}

TEST(BeliefTest, AShortAnswerKeepsWhatWasAnnouncedMeanwhile) {
  Belief belief = AtLeast(200);
  const int64_t before = belief.announced();
  belief.Asked(100);
  belief.Announced(7, true);
  belief.Leased(100, 60, /*is_cut=*/false, before);
  EXPECT_EQ(belief.count(), 7);
}

TEST(BeliefTest, AnAnswerCutByBytesIsNotShort) {
  Belief plenty = AtLeast(Belief::kPlenty);
  plenty.Asked(100);
  plenty.Leased(100, 3, /*is_cut=*/true, 0);
  EXPECT_EQ(plenty.count(), Belief::kPlenty);
  Belief some = AtLeast(100);
  some.Asked(100);
  some.Leased(100, 3, /*is_cut=*/true, 0);
  EXPECT_EQ(some.count(), 97);
}

TEST(BeliefTest, AFullAnswerToAllThatWasKnownLeavesNothingKnown) {
  Belief belief = Empty();
  belief.Announced(2, true);
  const int64_t before = belief.announced();
  belief.Asked(2);
  EXPECT_EQ(belief.KindAt(kNow), Kind::kUnknown) << "what was empty before says nothing any more";
  belief.Leased(2, 2, /*is_cut=*/false, before);
  EXPECT_EQ(belief.KindAt(kNow), Kind::kUnknown);
}

TEST(BeliefTest, WhatAProbeFindsIsExpected) {
  EXPECT_EQ(AtLeast(12).count(), 12);
  EXPECT_EQ(AtLeast(12).KindAt(kNow), Kind::kAtLeast);
}

// A probe that sees nothing has seen all that was announced before it began.
TEST(BeliefTest, AnEmptyProbeEndsWhatWasExpected) {
  Belief belief = Empty();
  belief.Announced(3, true);
  belief.Probed(belief.announced(), 0, kLater);
  EXPECT_EQ(belief.KindAt(kNow), Kind::kEmpty);
}

TEST(BeliefTest, WhatIsDueIsExpected) {
  Belief belief = Empty();
  belief.Due(16);
  EXPECT_EQ(belief.count(), 16);
  Belief more = AtLeast(40);
  more.Due(16);
  EXPECT_EQ(more.count(), 40);
}

TEST(BeliefTest, AStatementThatDidNotRunTakesNothing) {
  Belief belief = AtLeast(5);
  belief.Asked(3);
  belief.Unasked(3);
  EXPECT_EQ(belief.count(), 5);
  Belief plenty = AtLeast(Belief::kPlenty);
  plenty.Asked(3);
  plenty.Unasked(3);
  EXPECT_EQ(plenty.count(), Belief::kPlenty);
}

TEST(BeliefTest, LostNotificationsEndTheBeliefInNothing) {
  Belief belief = Empty();
  belief.Invalidate();
  EXPECT_EQ(belief.KindAt(kNow), Kind::kUnknown);
}

TEST(BeliefTest, AfterAFailureNothingIsKnown) {
  Belief belief = AtLeast(5);
  belief.Forget();
  EXPECT_EQ(belief.KindAt(kNow), Kind::kUnknown);
}

}  // namespace
}  // namespace skiplane::broker
