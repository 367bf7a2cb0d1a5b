#include "server/broker/lease/lease_tracker.h"

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

model::LeaseToken Token(int64_t id, int64_t lease_number = 1, int64_t lane = 1) {
  model::LeaseToken token;
  token.task = {lane, id};
  token.lease_number = lease_number;
  return token;
}

pg::Uuid Ledger(uint8_t first) { return {first}; }

TEST(LeaseTrackerTest, NamesARowWhenItsLastTaskWasSettled) {
  LeaseTracker tracker(100);
  tracker.Leased(1, Ledger(7), {Token(1), Token(2)});
  tracker.Settled(Token(1));
  EXPECT_THAT(tracker.TakeFinished(1, 10), IsEmpty());
  tracker.Settled(Token(2));
  EXPECT_THAT(tracker.TakeFinished(1, 10), ElementsAre(Ledger(7)));
}

TEST(LeaseTrackerTest, NamesARowOnce) {
  LeaseTracker tracker(100);
  tracker.Leased(1, Ledger(7), {Token(1)});
  tracker.Settled(Token(1));
  tracker.Settled(Token(1));
  EXPECT_EQ(tracker.TakeFinished(1, 10).size(), 1u);
  EXPECT_THAT(tracker.TakeFinished(1, 10), IsEmpty());
}

TEST(LeaseTrackerTest, AnotherLeaseOfTheTaskIsAnotherEntry) {
  LeaseTracker tracker(100);
  tracker.Leased(1, Ledger(7), {Token(1, 5)});
  tracker.Settled(Token(1, 4));
  EXPECT_THAT(tracker.TakeFinished(1, 10), IsEmpty());
}

TEST(LeaseTrackerTest, KeepsLanesApart) {
  LeaseTracker tracker(100);
  tracker.Leased(1, Ledger(7), {Token(1)});
  tracker.Leased(2, Ledger(8), {Token(2, 1, 2)});
  tracker.Settled(Token(1));
  tracker.Settled(Token(2, 1, 2));
  EXPECT_THAT(tracker.TakeFinished(2, 10), ElementsAre(Ledger(8)));
}

// Leases that end elsewhere once stayed until nothing more was remembered.
TEST(LeaseTrackerTest, LeasesThatEndElsewhereDoNotFillIt) {
  LeaseTracker tracker(100);
  for (int64_t id = 1; id <= 1000; ++id) tracker.Leased(1, Ledger(6), {Token(id)});
  tracker.Leased(1, Ledger(7), {Token(2000)});
  tracker.Settled(Token(2000));
  EXPECT_THAT(tracker.TakeFinished(1, 10), ElementsAre(Ledger(7)));
}

TEST(LeaseTrackerTest, RemembersALeaseForOneGenerationAtLeastAndTwoAtMost) {
  using Time = base::SteadyTime;
  const Time start = std::chrono::steady_clock::now();
  const auto generation = LeaseTracker::kGeneration;
  const std::chrono::seconds almost = generation - std::chrono::seconds(1);
  LeaseTracker tracker(100);
  tracker.Leased(1, Ledger(1), {Token(1)}, start);
  tracker.Leased(1, Ledger(2), {Token(2)}, start + almost);
  tracker.Leased(1, Ledger(3), {Token(3)}, start + generation);
  tracker.Settled(Token(2));
  EXPECT_THAT(tracker.TakeFinished(1, 10), ElementsAre(Ledger(2)));
  tracker.Leased(1, Ledger(4), {Token(4)}, start + 2 * generation);
  tracker.Settled(Token(1));
  tracker.Settled(Token(3));
  EXPECT_THAT(tracker.TakeFinished(1, 10), ElementsAre(Ledger(3)));
}

TEST(LeaseTrackerTest, LeavesToUpkeepWhatIsTooMuch) {
  LeaseTracker tracker(2);
  tracker.Leased(1, Ledger(7), {Token(1), Token(2), Token(3)});
  for (int64_t id = 1; id <= 3; ++id) tracker.Settled(Token(id));
  EXPECT_THAT(tracker.TakeFinished(1, 10), IsEmpty());
}

}  // namespace
}  // namespace skiplane::broker
