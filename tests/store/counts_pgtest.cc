#include "server/store/counts.h"

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::Required;
using testing::TaskIn;
using testing::TokensOf;

class CountsTest : public testing::StoreHarness {
 protected:
  // One task of each kind, and what they count.
  void MakeSome() {
    Put(5, {}, 1);
    Put(2, TaskIn(absl::Minutes(5)));
    const auto tokens = TokensOf(Take(4));
    Settle({tokens[0]}, Action::kAck);
    Settle({tokens[1]}, Action::kRetry);
    Settle({tokens[2]}, Action::kRelease);
  }

  void ExpectCountsOfSome() {
    const model::QueueCounts counts = Required(ReadCounts(*session_)).at({lane_, 0});
    EXPECT_EQ(counts.scheduled, 2);
    EXPECT_EQ(counts.ready, 2);
    EXPECT_EQ(counts.leased, 1);
    EXPECT_EQ(counts.succeeded, 1);
    EXPECT_EQ(counts.failed, 1);
    EXPECT_EQ(Required(ReadCounts(*session_, {lane_})).at({lane_, 0}).ready, 2);
    EXPECT_THAT(Required(ReadCounts(*session_, {lane_ + 1})), IsEmpty());
    ExpectExactCounts();
  }

  int64_t Deltas() const { return Number("SELECT count(*) FROM skiplane.counter_delta"); }
};

TEST_F(CountsTest, ALaneWithoutTasksIsMissing) {
  EXPECT_THAT(Required(ReadCounts(*session_)), IsEmpty());
}

TEST_F(CountsTest, OfOneQueueAreWhatIsNotFinishedAndItsBytes) {
  EXPECT_THAT(CountUnfinished(*session_, {lane_}), IsOkAndHolds(0));
  EXPECT_THAT(MeasureBytes(*session_, {lane_}), IsOkAndHolds(0));
  MakeSome();
  EXPECT_THAT(FoldCounts(*session_, lane_, 3), IsOkAndHolds(3));
  EXPECT_THAT(CountUnfinished(*session_, {lane_, lane_ + 1}),
              IsOkAndHolds(Number("SELECT count(*) FROM skiplane.task")));
  EXPECT_THAT(MeasureBytes(*session_, {lane_, lane_ + 1}),
              IsOkAndHolds(Number("SELECT sum(octet_length(payload) +"
                                  " coalesce(pg_column_size(headers), 0)) FROM skiplane.task")));
  EXPECT_THAT(CountUnfinished(*session_, {lane_ + 1}), IsOkAndHolds(0));
}

TEST_F(CountsTest, AreExactBeforeDuringAndAfterFolding) {
  MakeSome();
  ExpectCountsOfSome();
  const int64_t deltas = Deltas();
  EXPECT_THAT(FoldCounts(*session_, lane_, 3), IsOkAndHolds(3));
  EXPECT_EQ(Deltas(), deltas - 3);
  ExpectCountsOfSome();
  EXPECT_THAT(FoldCounts(*session_, lane_, 1000), IsOkAndHolds(deltas - 3));
  EXPECT_EQ(Deltas(), 0);
  ExpectCountsOfSome();
  EXPECT_THAT(FoldCounts(*session_, lane_, 1000), IsOkAndHolds(0));
  ASSERT_THAT(CleanCounts(*session_, lane_), IsOk());
  ExpectCountsOfSome();
}

TEST_F(CountsTest, LanesWithDeltasAreNamed) {
  EXPECT_THAT(LanesWithDeltas(*session_, 1), IsOkAndHolds(IsEmpty()));
  const int64_t first = lane_;
  PutOne();
  lane_ = MakeLane("other");
  Put(2);
  EXPECT_THAT(LanesWithDeltas(*session_, 1), IsOkAndHolds(UnorderedElementsAre(first, lane_)));
  Required(FoldCounts(*session_, lane_, 1000));
  EXPECT_THAT(LanesWithDeltas(*session_, 1), IsOkAndHolds(UnorderedElementsAre(first)));
}

TEST_F(CountsTest, FoldingLeavesTheDeltasOfOtherLanes) {
  PutOne();
  lane_ = MakeLane("other");
  EXPECT_THAT(FoldCounts(*session_, lane_, 1000), IsOkAndHolds(0));
  EXPECT_EQ(Deltas(), 1);
}

TEST_F(CountsTest, DueTimesAtWhichNothingWaitsAreRemoved) {
  Put(2, TaskIn(absl::Minutes(5)));
  PutOne(TaskIn(absl::Hours(5)));
  LetTimePass();
  Settle(TokensOf(Take(2)), Action::kAck);
  Required(FoldCounts(*session_, lane_, 1000));
  const auto rows = [this] {
    return Number("SELECT count(*) FROM skiplane.counter WHERE due > 0");
  };
  EXPECT_EQ(rows(), 2);
  ASSERT_THAT(CleanCounts(*session_, lane_), IsOk());
  EXPECT_EQ(rows(), 1);
}

TEST_F(CountsTest, AScheduledTaskThatBecameDueIsReady) {
  PutOne(TaskIn(absl::Minutes(5)));
  EXPECT_EQ(Required(ReadCounts(*session_)).at({lane_, 0}).scheduled, 1);
  Sql("UPDATE skiplane.task SET due = due - 100; "
      "UPDATE skiplane.counter_delta SET due = due - 100");
  EXPECT_EQ(Required(ReadCounts(*session_)).at({lane_, 0}).scheduled, 0);
  EXPECT_EQ(Required(ReadCounts(*session_)).at({lane_, 0}).ready, 1);
}

TEST_F(CountsTest, TheOldestAttemptIsOneThatRunsNotOneThatIsOver) {
  EXPECT_THAT(Required(OldestAttempts(*session_)), IsEmpty());
  Put(3);
  const auto tokens = TokensOf(Take(3));  // one ledger row, which lasts as long as one of them
  const auto make_older = [&](const model::LeaseToken& token, const char* by) {
    Sql(absl::StrCat("UPDATE skiplane.task SET lease_number = lease_number - ", by, " WHERE id = ",
                     token.task.id, "; UPDATE skiplane.lease_ledger "
                                    "SET lease_numbers[array_position("
                     "tasks, ", token.task.id, "::int8)] = ", token.lease_number, " - ", by));
  };
  make_older(tokens[0], "7200000000");
  make_older(tokens[1], "3600000000");
  const auto age = [this] { return Required(OldestAttempts(*session_)).at(lane_); };
  EXPECT_GE(age(), absl::Hours(2));
  Sql(absl::StrCat("UPDATE skiplane.task SET state = 1, session = NULL WHERE id = ",
                   tokens[0].task.id,
                   "; INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, leased) "
                   "VALUES (", lane_, ", 0, 0, 1, -1)"));
  EXPECT_GE(age(), absl::Hours(1));
  EXPECT_LT(age(), absl::Hours(2));
}

TEST_F(CountsTest, KeptFailedTasksAreCountedUntilTheyGo) {
  EXPECT_THAT(Required(CountFailed(*session_)), IsEmpty());
  Put(3, {}, 1);
  const model::TaskError error{"Boom", "it broke", "print"};
  SettleBatch batch = Batch(TokensOf(Take(3)), Action::kFail);
  for (SettleRow& row : batch.rows) row.error = &error;
  ASSERT_THAT(store::Settle(*session_, batch), IsOk());
  EXPECT_THAT(Required(CountFailed(*session_)), UnorderedElementsAre(Pair(lane_, 3)));
  ASSERT_THAT(FoldErrors(*session_, lane_, 100), IsOk());
  EXPECT_THAT(Required(CountFailed(*session_)), UnorderedElementsAre(Pair(lane_, 3)));
}

// Workers may give each failure its own fingerprint. Groups without tasks stayed for a week however
// many there were, and each fold looked through all of them.
TEST_F(CountsTest, ErrorGroupsWithoutTasksStayForAWeekTenThousandOfThem) {
  const auto make = [this](int groups, const std::string& age, int failed) {
    Sql(absl::StrCat("INSERT INTO skiplane.error_group (lane, stage, fingerprint, retrying, "
                     "failed, first_seen_time, last_seen_time, tasks) SELECT ", lane_,
                     ", 0, 'g' || i || '",
                     age, failed, "', 0, ", failed, ", now() - interval '", age,
                     "', now() - interval '", age, "' - i * interval '1 ms', '{}' "
                     "FROM generate_series(1, ", groups, ") i"));
  };
  const auto groups = [this] { return Number("SELECT count(*) FROM skiplane.error_group"); };
  make(3, "8 days", 1);
  make(20, "8 days", 0);
  make(9999, "1 hour", 0);
  EXPECT_THAT(Required(LanesWithIdleErrors(*session_)), UnorderedElementsAre(lane_));
  EXPECT_EQ(Required(CleanErrors(*session_, lane_, 15)), 15);
  EXPECT_EQ(Required(CleanErrors(*session_, lane_, 15)), 5);
  EXPECT_EQ(Required(CleanErrors(*session_, lane_, 15)), 0);
  EXPECT_THAT(Required(LanesWithIdleErrors(*session_)), IsEmpty());
  EXPECT_EQ(groups(), 3 + 9999);
  make(11, "1 minute", 0);
  make(20, "1 minute", 1);
  EXPECT_EQ(Required(CleanErrors(*session_, lane_, 100)), 10);
  EXPECT_EQ(groups(), 3 + 10000 + 20) << "those with tasks stay";
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.error_group WHERE last_seen_time > "
                   "now() - interval '59 minutes'"), 31) << "the longest unseen go";
}

TEST_F(CountsTest, ALaneIsActiveForAWeekAfterItsLastAttempt) {
  EXPECT_THAT(Required(ActiveLanes(*session_)), IsEmpty());
  PutOne();
  Settle({TakeOne()}, Action::kAck);
  ASSERT_THAT(FoldCounts(*session_, lane_, 100), IsOk());
  EXPECT_THAT(Required(ActiveLanes(*session_)), UnorderedElementsAre(lane_));
  Sql("UPDATE skiplane.hour_statistics SET hour = hour - interval '8 days'");
  EXPECT_THAT(Required(ActiveLanes(*session_)), IsEmpty());
}

}  // namespace
}  // namespace skiplane::store
