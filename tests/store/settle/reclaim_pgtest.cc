#include "server/store/reclaim.h"

#include "gmock/gmock.h"
#include "server/store/sessions.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using testing::IdsOf;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::kOtherWorker;
using testing::kWorker;
using testing::Required;
using testing::TokensOf;

class ReclaimTest : public testing::StoreHarness {
 protected:
  Reclaimed ReclaimOf(const pg::Uuid& session, int rows = 100,
                      model::HistoryPolicy history = model::HistoryPolicy::kAll) {
    return Required(Reclaim(*session_, lane_, {session}, testing::SettingsWith(history), rows));
  }

  void LetLedgerBecomeDue() const {
    Sql("UPDATE skiplane.lease_ledger SET check_time = now() - interval '1 second'");
  }
};

TEST_F(ReclaimTest, TasksOfALostSessionAreFreeAtOnceAndCharged) {
  const std::vector<int64_t> ids = Put(3, testing::TaskWithPriority(4));
  Take(3);
  const Reclaimed reclaimed = ReclaimOf(kWorker);
  EXPECT_TRUE(reclaimed.found_rows);
  EXPECT_EQ(reclaimed.freed, 3);
  EXPECT_EQ(reclaimed.failed, 0);
  ASSERT_EQ(reclaimed.unleased.size(), 1u);
  EXPECT_EQ(reclaimed.unleased[0].lane, lane_);
  EXPECT_EQ(reclaimed.unleased[0].priority, 4);
  EXPECT_EQ(reclaimed.unleased[0].count, 3);
  EXPECT_TRUE(reclaimed.unleased[0].is_ready);
  const std::vector<LeasedRow> again = Take(3, kOtherWorker);
  EXPECT_THAT(IdsOf(again), ElementsAre(ids[0], ids[1], ids[2]));
  EXPECT_EQ(again[0].task.token.attempt, 2);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history WHERE outcome = 4 AND NOT ends_task AND "
                   "error_type = 'LEASE_LOST' AND attempt = 1"),
            3);
  EXPECT_FALSE(ReclaimOf(kWorker).found_rows);
}

TEST_F(ReclaimTest, ATaskWithoutAttemptsLeftFails) {
  model::NewTask task = testing::KeyedTask("k");
  task.payload = "poison";
  PutOne(task, 2);
  TakeOne();
  EXPECT_EQ(ReclaimOf(kWorker).freed, 1);
  TakeOne();
  const Reclaimed reclaimed = ReclaimOf(kWorker);
  EXPECT_EQ(reclaimed.failed, 1);
  EXPECT_THAT(reclaimed.unleased, IsEmpty());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_failed WHERE attempt = 2 AND "
                   "payload = 'poison' AND error_type = 'LEASE_LOST' AND key = 'k'"),
            1);
  EXPECT_EQ(Sql("SELECT string_agg(concat(outcome, ends_task), ' ' ORDER BY attempt) "
                "FROM skiplane.history"),
            "4f 3t");
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_key WHERE end_time IS NOT NULL"), 1);
}

TEST_F(ReclaimTest, WithoutHistoryThereIsNone) {
  PutOne();
  TakeOne();
  EXPECT_EQ(ReclaimOf(kWorker, 100, model::HistoryPolicy::kNone).freed, 1);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history"), 0);
}

TEST_F(ReclaimTest, OtherSessionsKeepTheirsAlsoInASharedLedgerRow) {
  const std::vector<int64_t> ids = Put(4);
  LeaseDemand demand = Demand({1, 2, 1, 2});
  demand.callers[0].ledger = demand.callers[1].ledger = testing::kLedger;
  const auto tokens = TokensOf(Required(Lease(*session_, demand)).rows);
  EXPECT_EQ(ReclaimOf(kWorker).freed, 2);
  EXPECT_THAT(FindLeases(*session_, lane_, {}, {{testing::kLedger}}),
              IsOkAndHolds(::testing::SizeIs(2)));
  EXPECT_EQ(Settle({tokens[1], tokens[3]}, Action::kAck), 2u);
  EXPECT_THAT(IdsOf(Take(4)), ElementsAre(ids[0], ids[2]));
}

TEST_F(ReclaimTest, WhatWasSettledBeforeIsLeftAlone) {
  Put(3);
  const auto tokens = TokensOf(Take(3));
  Settle({tokens[0]}, Action::kAck);
  Settle({tokens[1]}, Action::kRetry);
  EXPECT_EQ(ReclaimOf(kWorker).freed, 1);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history WHERE outcome = 4"), 1);
}

TEST_F(ReclaimTest, ALaterLeaseOfTheTaskIsLeftAlone) {
  PutOne();
  Settle({TakeOne(kWorker)}, Action::kRelease);
  const model::LeaseToken held = TakeOne(kOtherWorker);
  EXPECT_EQ(ReclaimOf(kWorker).freed, 0);
  EXPECT_EQ(Settle({held}, Action::kAck), 1u);
}

TEST_F(ReclaimTest, LedgerRowsAreTakenInSlices) {
  for (int i = 0; i < 3; ++i) {
    PutOne();
    TakeOne();
  }
  EXPECT_THAT(LedgerLanes(*session_, {kWorker, kOtherWorker}),
              IsOkAndHolds(ElementsAre(Pair(lane_, kWorker))));
  EXPECT_EQ(ReclaimOf(kWorker, 2).freed, 2);
  EXPECT_EQ(ReclaimOf(kWorker, 2).freed, 1);
  EXPECT_THAT(LedgerLanes(*session_, {kWorker}), IsOkAndHolds(IsEmpty()));
}

// Tasks of a megabyte that failed were copied by one statement, two thousand at once: it timed out,
// each time it was tried.
TEST_F(ReclaimTest, LargeTasksAreTakenBackInParts) {
  constexpr int kTasks = 40;
  Put(kTasks, testing::TaskOf(std::string(1 << 20, 'x')), 1);
  for (size_t taken = 0; taken < kTasks;) taken += Take(kTasks).size();  // a lease has 16 MiB
  Reclaimed reclaimed = ReclaimOf(kWorker);
  int64_t failed = reclaimed.failed;
  for (; reclaimed.found_rows; failed += reclaimed.failed) reclaimed = ReclaimOf(kWorker);
  EXPECT_EQ(failed, kTasks);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_failed"), kTasks);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger"), 0);
  const std::string parts = "SELECT count(DISTINCT xmin::text) FROM skiplane.task_failed";
  EXPECT_EQ(Number(parts), 2) << "of 32 MiB";
}

TEST_F(ReclaimTest, ManyLeasesAreTakenBackInPartsAndTheirLedgerRowsAtTheEnd) {
  Put(1200);
  EXPECT_EQ(Take(1200).size(), 1200u);
  Reclaimed reclaimed = ReclaimOf(kWorker, 1);
  int64_t freed = reclaimed.freed;
  for (; reclaimed.found_rows; freed += reclaimed.freed) reclaimed = ReclaimOf(kWorker, 1);
  EXPECT_EQ(freed, 1200);
  EXPECT_EQ(Number("SELECT count(DISTINCT xmin::text) FROM skiplane.task"), 3) << "of 500";
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger"), 0);
}

TEST_F(ReclaimTest, LedgerRowsAreTakenUntilTheyNameThousandsOfLeases) {
  Put(4 * 1800);
  for (int i = 0; i < 4; ++i) Take(1800);
  Reclaimed reclaimed = ReclaimOf(kWorker);
  int64_t freed = reclaimed.freed;
  EXPECT_LE(freed, 3 * 1800) << "the third row begins below 5,000, the fourth does not";
  for (; reclaimed.found_rows; freed += reclaimed.freed) reclaimed = ReclaimOf(kWorker);
  EXPECT_EQ(freed, 4 * 1800);
}

// Each call without a worker_id left a row for as long as it leases: for hours, although its task
// was settled at once.
TEST_F(ReclaimTest, SessionsOfSingleCallsAreForgottenOnceTheyHoldNothing) {
  Put(2);
  const auto held = TokensOf(Take(1, kWorker));
  const auto settled = TokensOf(Take(1, kOtherWorker));
  std::vector<Touch> touches = {{"", "", kWorker, absl::Hours(1), {}},
                                {"", "", kOtherWorker, absl::Hours(1), {}},
                                {"worker", "", testing::UuidOf(77), absl::Hours(1), {}}};
  ASSERT_THAT(TouchSessions(*session_, touches), IsOk());
  Settle(settled, Action::kAck);
  Sql("DELETE FROM skiplane.lease_ledger WHERE sessions[1] = (SELECT session FROM "
      "skiplane.history)");
  const auto forgotten = [this](const pg::Uuid& after) {
    return Required(ForgetUnusedSessions(*session_, after, 1)).forgotten;
  };
  EXPECT_EQ(Required(ForgetUnusedSessions(*session_, {}, 10)).looked_at, 0) << "too young";
  Sql("UPDATE skiplane.worker_session SET expire_time = now() + interval '56 minutes'");
  const UnusedSessions first = Required(ForgetUnusedSessions(*session_, {}, 1));
  EXPECT_EQ(first.looked_at, 1);
  EXPECT_EQ(first.forgotten + forgotten(first.last), 1);
  EXPECT_EQ(forgotten({}), 0);
  EXPECT_EQ(Sql("SELECT string_agg(coalesce(worker_id, 'none'), ' ' ORDER BY worker_id) "
                "FROM skiplane.worker_session"),
            "worker none");
  EXPECT_EQ(Settle(held, Action::kAck), 1u);
}

TEST_F(ReclaimTest, FoldingKeepsOnlyWhatIsHeld) {
  Put(5);
  const auto tokens = TokensOf(Take(3, kWorker));
  const auto others = TokensOf(Take(2, kOtherWorker));
  Settle({tokens[0], tokens[1]}, Action::kAck);
  Settle(others, Action::kRelease);
  EXPECT_THAT(LanesToFold(*session_), IsOkAndHolds(IsEmpty()));
  EXPECT_FALSE(Required(FoldLedger(*session_, lane_, 100)).found_rows);
  LetLedgerBecomeDue();
  EXPECT_THAT(LanesToFold(*session_), IsOkAndHolds(ElementsAre(lane_)));
  const Folded folded = Required(FoldLedger(*session_, lane_, 100));
  EXPECT_TRUE(folded.found_rows);
  EXPECT_THAT(folded.sessions, ElementsAre(kWorker));
  EXPECT_EQ(Sql("SELECT tasks::text || ' ' || folds || ' ' "
                "|| (check_time > now() + interval '20 s') "
                "FROM skiplane.lease_ledger"),
            absl::StrCat("{", tokens[2].task.id, "} 1 true"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger"), 1);
  EXPECT_EQ(ReclaimOf(kWorker).freed, 1);
}

TEST_F(ReclaimTest, FoldingJoinsRowsButNotThoseOfRequests) {
  Put(4);
  for (int i = 0; i < 3; ++i) {
    LeaseDemand demand = Demand({1});
    if (i == 2) demand.callers[0].request_id = "w/1";
    ASSERT_THAT(Lease(*session_, demand), IsOk());
  }
  const std::string rows =
      "SELECT string_agg(concat(request_id, cardinality(tasks)), ' ' ORDER BY request_id "
      "NULLS FIRST) FROM skiplane.lease_ledger";
  LetLedgerBecomeDue();
  Required(FoldLedger(*session_, lane_, 100));
  EXPECT_EQ(Sql(rows), "1 1 w/11") << "their brokers may still ask for them";
  LetLedgerBecomeDue();
  Required(FoldLedger(*session_, lane_, 100));
  EXPECT_EQ(Sql(rows), "2 w/11");
  EXPECT_THAT(FindLeases(*session_, lane_, {"w/1"}, {}), IsOkAndHolds(::testing::SizeIs(1)));
}

TEST_F(ReclaimTest, FoldedRowsAreLookedAtEverMoreSeldom) {
  PutOne();
  TakeOne();
  std::vector<int64_t> delays;
  for (int i = 0; i < 6; ++i) {
    LetLedgerBecomeDue();
    Required(FoldLedger(*session_, lane_, 100));
    delays.push_back(Number("SELECT ceil(date_part('epoch', check_time - now()) / 30)::int8 "
                            "FROM skiplane.lease_ledger"));
  }
  EXPECT_THAT(delays, ElementsAre(3, 4, 9, 16, 25, 25));
}

}  // namespace
}  // namespace skiplane::store
