// Who is cut when memory is short, and who never is.
#include "server/rpc/serve/flood_rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skiplane::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMiB = 1 << 20;
constexpr Pressure kShort = {200 * kMiB};     // somewhat above a calm broker
constexpr Pressure kVeryShort = {450 * kMiB}; // about to be too much

std::vector<std::string> Cuts(const std::vector<Held>& held, const Pressure& pressure) {
  std::vector<std::string> cuts;
  for (const FloodCut& cut : WhomToCut(held, pressure)) {
    cuts.push_back(std::to_string(cut.index) + " " + std::string(cut.reason));
  }
  std::ranges::sort(cuts);
  return cuts;
}

// Of a connection that had as many answers.
Held Streams(int64_t streams, int64_t resets = 0) {
  Held held;
  held.streams = streams;
  held.answered = streams;
  held.resets = resets;
  return held;
}

Held Bytes(int64_t bytes, absl::Duration stalled, int64_t streams = 1000) {
  Held held;
  held.bytes = bytes;
  held.streams = streams;
  held.answered = streams;
  held.stalled = stalled;
  return held;
}

TEST(FloodRules, NobodyIsCutWhoHoldsNothing) {
  EXPECT_THAT(Cuts({Held(), Held()}, kVeryShort), IsEmpty());
  EXPECT_THAT(Cuts({}, kVeryShort), IsEmpty());
}

TEST(FloodRules, ThousandsOfStreamsOfOneConnectionAreAFlood) {
  EXPECT_THAT(Cuts({Streams(3000)}, kShort), IsEmpty());
  EXPECT_THAT(Cuts({Streams(3001)}, kShort), ElementsAre("0 streams"));
  EXPECT_THAT(Cuts({Streams(2000), Streams(2000)}, kShort), IsEmpty());
}

TEST(FloodRules, AWorkerThatGivesUpAllItsCallsAtOnceHoldsWhatItWasLetHave) {
  Held leaves;
  leaves.streams = 5000;
  leaves.leaving = 5000;
  EXPECT_THAT(Cuts({leaves, leaves, leaves}, kVeryShort), IsEmpty());
  leaves.streams += 3000;
  EXPECT_THAT(Cuts({leaves}, kShort), IsEmpty());
  ++leaves.streams;
  EXPECT_THAT(Cuts({leaves}, kShort), ElementsAre("0 streams"));
}

TEST(FloodRules, WhoHasMostStreamsGoesFirstUntilFewAreLeft) {
  EXPECT_THAT(Cuts({Streams(2500), Streams(3500), Streams(2100)}, kShort),
              ElementsAre("0 streams", "1 streams"));
}

TEST(FloodRules, WhoGivesUpMostOfItsCallsHasLessRoom) {
  const std::vector<Held> resets(40, Streams(200, 1));
  EXPECT_EQ(Cuts(resets, kShort).size(), 25u);
  const std::vector<Held> others(15, Streams(200));
  EXPECT_THAT(Cuts(others, kShort), IsEmpty());
}

TEST(FloodRules, WhoGivesUpCallsFasterThanTheyAreAnsweredIsCutHoweverFewStreamsItHolds) {
  const std::vector<Held> held = {Streams(0, 64), Streams(0, 65), Streams(300), Streams(0, 4)};
  EXPECT_THAT(Cuts(held, {.memory = 190 * kMiB, .given_up = 1001}), ElementsAre("1 resets"));
  EXPECT_THAT(Cuts(held, {.memory = 450 * kMiB, .given_up = 1001}),
              ElementsAre("0 resets", "1 resets"));
  EXPECT_THAT(Cuts(held, {.memory = 450 * kMiB, .given_up = 1000}), IsEmpty())
      << "memory is short for another reason";
}

TEST(FloodRules, WhoHadFewerAnswersThanItHoldsStreamsHasLessRoom) {
  std::vector<Held> held(40, Streams(200));
  EXPECT_THAT(Cuts(held, kShort), IsEmpty());
  for (Held& one : held) one.answered = 199;
  EXPECT_EQ(Cuts(held, kShort).size(), 25u);
}

TEST(FloodRules, WhileConnectionsThatWereCutAreWorkedOffNobodyBeginsWithMuch) {
  Held fresh;
  fresh.unread = (16 << 10) + 1;
  Held known = fresh;
  known.answered = 2;
  known.given_up = 1;
  Held small;
  small.unread = 16 << 10;
  const std::vector<Held> held = {fresh, known, small};
  EXPECT_THAT(Cuts(held, {.memory = 200 * kMiB, .streams = 3001}), ElementsAre("0 unread"));
  EXPECT_THAT(Cuts(held, {.memory = 450 * kMiB, .streams = 3000}), IsEmpty());
}

TEST(FloodRules, StreamsOfConnectionsThatWereCutTakeTheRoomOfOthers) {
  const std::vector<Held> held = {Streams(200, 1), Streams(200)};
  EXPECT_THAT(Cuts(held, kShort), IsEmpty());
  EXPECT_THAT(Cuts(held, {.memory = 200 * kMiB, .streams = 3000}), ElementsAre("0 streams"));
}

TEST(FloodRules, ABodyLargerThanARequestMayBeIsAFlood) {
  EXPECT_THAT(Cuts({Bytes(5 * kMiB, absl::ZeroDuration(), 1),
                    Bytes(5 * kMiB + 1, absl::ZeroDuration(), 1)}, kShort),
              ElementsAre("1 bytes"));
}

TEST(FloodRules, WhoseAddressWasCutBeginsWithLittle) {
  Held again = Bytes((256 << 10) + 1, absl::ZeroDuration(), 1);
  again.is_suspect = true;
  Held fresh = again;
  fresh.answered = 0;
  Held small = fresh;
  small.bytes = 256 << 10;
  Held other = fresh;
  other.is_suspect = false;
  EXPECT_THAT(Cuts({again, fresh, small, other}, kShort), ElementsAre("1 bytes"));
}

TEST(FloodRules, OneConnectionHoldsSixtyFourMebibytesAtMost) {
  EXPECT_THAT(Cuts({Bytes(64 * kMiB, absl::ZeroDuration()),
                    Bytes(64 * kMiB + 1, absl::ZeroDuration())}, kShort),
              ElementsAre("1 bytes"));
}

TEST(FloodRules, LargeRequestsOfManyClientsAtOnceAreNone) {
  const std::vector<Held> held(64, Bytes(4 * kMiB, absl::Milliseconds(900), 1));
  EXPECT_THAT(Cuts(held, {390 * kMiB}), IsEmpty());
}

TEST(FloodRules, BodiesThatGoNoFurtherMakeRoomForOthers) {
  std::vector<Held> held(100, Bytes(3 * kMiB, absl::Seconds(3)));
  held.push_back(Bytes(4 * kMiB, absl::ZeroDuration()));
  const std::vector<std::string> cuts = Cuts(held, {300 * kMiB});
  EXPECT_EQ(cuts.size(), 80u);
  EXPECT_THAT(cuts, ::testing::Each(::testing::EndsWith(" memory")));
  EXPECT_THAT(cuts, ::testing::Not(::testing::Contains("100 memory")));
}

TEST(FloodRules, ABodyThatGoesNoFurtherForHalfAMinuteIsOver) {
  EXPECT_THAT(Cuts({Bytes(kMiB, absl::Seconds(29)), Bytes(kMiB, absl::Seconds(30)),
                    Bytes(100 << 10, absl::Seconds(30))}, kShort),
              ElementsAre("1 stalled"));
}

TEST(FloodRules, TheShorterMemoryIsTheLessOneMayHold) {
  const std::vector<Held> held(100, Streams(100));
  EXPECT_THAT(Cuts(held, kShort), IsEmpty());
  EXPECT_EQ(Cuts(held, kVeryShort).size(), 70u);
}

Unread Answers(int64_t mib, int stalled_seconds) {
  return {mib * kMiB, absl::Seconds(stalled_seconds)};
}

TEST(FloodRules, WhoReadsNothingGoesMostFirstUntilThereIsRoom) {
  EXPECT_THAT(WhoReadsNothing({Answers(3, 9), Answers(1, 9)}), IsEmpty()) << "there is room";
  EXPECT_THAT(WhoReadsNothing({Answers(1, 9), Answers(3, 9), Answers(2, 9)}), ElementsAre(1));
  EXPECT_THAT(WhoReadsNothing({Answers(3, 9), Answers(9, 1), Answers(4, 2)}), ElementsAre(2, 0))
      << "who read a moment ago stays";
  EXPECT_THAT(WhoReadsNothing({Answers(9, 1), Answers(0, 9)}), IsEmpty());
  EXPECT_THAT(WhoReadsNothing({Answers(20, 1), Answers(2, 9), Answers(8, 9)}), ElementsAre(2))
      << "a small one stays";
  EXPECT_TRUE(IsCrowded({Answers(3, 0), Answers(2, 0)}));
  EXPECT_FALSE(IsCrowded({Answers(3, 9), Answers(1, 9)}));
}

}  // namespace
}  // namespace skiplane::rpc
