#include "server/upkeep/counter_folder.h"

#include "gmock/gmock.h"
#include "server/store/counts.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using testing::Required;

class CounterFolderTest : public testing::UpkeepHarness {
 protected:
  int64_t Deltas() const { return Number("SELECT count(*) FROM skiplane.counter_delta"); }
  // Folds everything, in as many passes as it takes; returns how many deltas.
  int64_t FoldAll(CounterFolder& folder) {
    int64_t folded = 0;
    for (bool is_complete = false; !is_complete;) {
      const CounterFoldResult pass = Required(folder.RunOnce(*session_));
      folded += pass.deltas;
      is_complete = pass.is_complete;
    }
    return folded;
  }
  int64_t Counters() const { return Number("SELECT count(*) FROM skiplane.counter"); }
};

TEST_F(CounterFolderTest, FoldsTheDeltasOfEveryLane) {
  for (int i = 0; i < 5; ++i) PutOne();
  const int64_t first_lane = lane_;
  lane_ = MakeLane("other");
  for (int i = 0; i < 3; ++i) PutOne();
  CounterFolder folder;
  EXPECT_EQ(FoldAll(folder), 8);
  EXPECT_EQ(Deltas(), 0);
  const auto counts = Required(store::ReadCounts(*session_));
  EXPECT_EQ(counts.at({first_lane, 0}).ready, 5);
  EXPECT_EQ(counts.at({lane_, 0}).ready, 3);
  EXPECT_EQ(FoldAll(folder), 0);
}

TEST_F(CounterFolderTest, FoldsMoreThanOneStatementTakes) {
  Sql(absl::StrCat("INSERT INTO skiplane.counter_delta (lane, stage, due, waiting) SELECT ", lane_,
                   ", 0, 0, i % 2 * 2 - 1 FROM generate_series(1, 12000) i"));
  CounterFolder folder;
  EXPECT_EQ(FoldAll(folder), 12000);
  EXPECT_EQ(Deltas(), 0);
}

TEST_F(CounterFolderTest, ALaneWithFewDeltasWaitsForTheFoldOfAllLanes) {
  CounterFolder folder(absl::Hours(1), absl::Hours(1));
  EXPECT_EQ(FoldAll(folder), 0);
  PutOne();
  EXPECT_EQ(FoldAll(folder), 0);
  EXPECT_EQ(Required(store::ReadCounts(*session_)).at({lane_, 0}).ready, 1) << "exact nevertheless";
  for (int i = 0; i < 63; ++i) PutOne();
  EXPECT_EQ(FoldAll(folder), 64);
}

TEST_F(CounterFolderTest, CleansTheDueTimesAtWhichNothingWaits) {
  Put(2, testing::TaskIn(absl::Hours(1)));
  CounterFolder folder(absl::ZeroDuration(), absl::ZeroDuration());
  Required(folder.RunOnce(*session_));
  EXPECT_EQ(Counters(), 2) << "one for the lane, one for the due time";
  LetTimePass();
  Settle(testing::TokensOf(Take(2, Worker("living"))), store::Action::kAck);
  EXPECT_EQ(Required(folder.RunOnce(*session_)).lanes_cleaned, 1);
  EXPECT_EQ(Counters(), 1);
}

TEST_F(CounterFolderTest, CleansALaneOnlyNowAndThen) {
  CounterFolder folder(absl::Hours(1), absl::ZeroDuration());
  PutOne();
  EXPECT_EQ(Required(folder.RunOnce(*session_)).lanes_cleaned, 0);
}

}  // namespace
}  // namespace skiplane::upkeep
