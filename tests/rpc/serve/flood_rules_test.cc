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
constexpr int64_t kShort = 200 * kMiB;      // somewhat above a calm broker
constexpr int64_t kVeryShort = 450 * kMiB;  // about to be too much

std::vector<std::string> Cuts(const std::vector<Held>& held, int64_t memory) {
  std::vector<std::string> cuts;
  for (const FloodCut& cut : WhomToCut(held, memory)) {
    cuts.push_back(std::to_string(cut.index) + " " + std::string(cut.reason));
  }
  std::ranges::sort(cuts);
  return cuts;
}

Held Streams(int64_t streams, bool resets = false) {
  Held held;
  held.streams = streams;
  held.resets = resets;
  return held;
}

Held Bytes(int64_t bytes, absl::Duration stalled, int64_t streams = 1000) {
  Held held;
  held.bytes = bytes;
  held.streams = streams;
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

TEST(FloodRules, WhoHasMostStreamsGoesFirstUntilFewAreLeft) {
  EXPECT_THAT(Cuts({Streams(2500), Streams(3500), Streams(2100)}, kShort),
              ElementsAre("0 streams", "1 streams"));
}

TEST(FloodRules, WhoGivesUpMostOfItsCallsHasLessRoom) {
  const std::vector<Held> resets(40, Streams(200, true));
  EXPECT_EQ(Cuts(resets, kShort).size(), 25u);
  const std::vector<Held> others(15, Streams(200));
  EXPECT_THAT(Cuts(others, kShort), IsEmpty());
}

TEST(FloodRules, ABodyLargerThanARequestMayBeIsAFlood) {
  EXPECT_THAT(Cuts({Bytes(5 * kMiB, absl::ZeroDuration(), 1),
                    Bytes(5 * kMiB + 1, absl::ZeroDuration(), 1)}, kShort),
              ElementsAre("1 bytes"));
}

TEST(FloodRules, OneConnectionHoldsSixtyFourMebibytesAtMost) {
  EXPECT_THAT(Cuts({Bytes(64 * kMiB, absl::ZeroDuration()),
                    Bytes(64 * kMiB + 1, absl::ZeroDuration())}, kShort),
              ElementsAre("1 bytes"));
}

TEST(FloodRules, LargeRequestsOfManyClientsAtOnceAreNone) {
  const std::vector<Held> held(64, Bytes(4 * kMiB, absl::Milliseconds(100), 1));
  EXPECT_THAT(Cuts(held, 390 * kMiB), IsEmpty());
}

TEST(FloodRules, BodiesThatGoNoFurtherMakeRoomForOthers) {
  std::vector<Held> held(100, Bytes(3 * kMiB, absl::Seconds(3)));
  held.push_back(Bytes(4 * kMiB, absl::ZeroDuration()));
  const std::vector<std::string> cuts = Cuts(held, 300 * kMiB);
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

}  // namespace
}  // namespace skiplane::rpc
