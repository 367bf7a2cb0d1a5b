#include "server/store/lease.h"

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using testing::IdsOf;
using testing::IsOk;
using testing::Required;
using testing::TaskIn;
using testing::TaskOf;
using testing::TaskWithPriority;
using testing::UuidOf;

class LeaseTest : public testing::StoreHarness {
 protected:
  std::vector<LeasedRow> LeaseRows(const LeaseDemand& demand) {
    return Required(Lease(*session_, demand)).rows;
  }
};

std::vector<int> CallersOf(const std::vector<LeasedRow>& rows) {
  std::vector<int> callers;
  for (const LeasedRow& row : rows) callers.push_back(row.caller);
  return callers;
}

TEST_F(LeaseTest, AnEmptyLaneGivesNothing) {
  const int64_t other_lane = lane_;
  lane_ = MakeLane("other");
  PutOne();
  lane_ = other_lane;
  LeaseDemand demand = Demand({1});
  demand.bounds = {{0}};
  EXPECT_THAT(LeaseRows(demand), IsEmpty());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger"), 0);
}

TEST_F(LeaseTest, TheOrderIsPriorityThenRunTimeThenId) {
  std::vector<int64_t> ids;
  const int16_t priorities[] = {7, -3, 0, 0, 0};
  for (const int16_t priority : priorities) ids.push_back(PutOne(TaskWithPriority(priority)));
  const auto set_run_at = [&](int64_t id, const char* time) {
    Sql(absl::StrCat("UPDATE skiplane.task SET schedule_time = '", time, "' WHERE id = ", id));
  };
  set_run_at(ids[0], "2001-01-01");
  set_run_at(ids[1], "2009-01-01");
  set_run_at(ids[2], "2003-01-01");
  set_run_at(ids[3], "2002-01-01");
  set_run_at(ids[4], "2002-01-01");
  EXPECT_THAT(IdsOf(Take(3)), ElementsAre(ids[1], ids[3], ids[4]));
  EXPECT_THAT(IdsOf(Take(3)), ElementsAre(ids[2], ids[0]));
}

TEST_F(LeaseTest, ATaskThatIsNotDueIsNotLeased) {
  PutOne(TaskIn(absl::Minutes(5)));
  EXPECT_THAT(Take(1), IsEmpty());
  LetTimePass();
  EXPECT_EQ(Take(1).size(), 1u);
}

TEST_F(LeaseTest, NeverMoreThanAskedFor) {
  for (int16_t priority = 0; priority < 5; ++priority) Put(10, TaskWithPriority(priority));
  EXPECT_EQ(Take(7).size(), 7u);
  EXPECT_EQ(Take(15).size(), 15u);
  EXPECT_EQ(Take(100).size(), 28u);
}

TEST_F(LeaseTest, CallersAreDealtBySlots) {
  const std::vector<int64_t> ids = Put(5);
  const std::vector<LeasedRow> rows = LeaseRows(Demand({1, 3, 2, 1}));
  EXPECT_THAT(IdsOf(rows), ElementsAre(ids[0], ids[1], ids[2], ids[3]));
  EXPECT_THAT(CallersOf(rows), ElementsAre(0, 2, 1, 0));
  for (const LeasedRow& row : rows) {
    EXPECT_EQ(row.task.token.session, UuidOf(static_cast<uint8_t>(row.caller + 1)));
    EXPECT_EQ(Sql(absl::StrCat("SELECT session = repeat('0", row.caller + 1,
                               "', 16)::uuid FROM skiplane.task WHERE id = ",
                               row.task.token.task.id)),
              "t");
  }
  EXPECT_EQ(Number("SELECT count(DISTINCT session) FROM skiplane.task WHERE state = 2"), 3);
}

// As of a caller whose session has ended.
TEST_F(LeaseTest, WhatIsDealtToNobodyStaysReady) {
  for (const int64_t bytes_max : {int64_t{16} << 20, int64_t{1}}) {
    Put(3);
    LeaseDemand demand = Demand({1, 0, 1});
    demand.bytes_max = bytes_max;
    const std::vector<LeasedRow> rows = LeaseRows(demand);
    for (const LeasedRow& row : rows) EXPECT_EQ(row.caller, 0);
    EXPECT_LE(rows.size(), 2u);
    EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 2 AND session IS NULL"), 0);
    EXPECT_GE(Number("SELECT count(*) FROM skiplane.task WHERE state = 1"), 1);
  }
}

TEST_F(LeaseTest, BytesAreLimitedPerCaller) {
  Put(8, TaskOf(std::string(100, 'x')));
  LeaseDemand demand = Demand({1, 2, 1, 2, 1, 2, 1, 2});
  demand.callers[0].max_bytes = 250;
  EXPECT_THAT(CallersOf(LeaseRows(demand)), ElementsAre(0, 1, 0, 1, 1, 1));
  EXPECT_EQ(Take(8).size(), 2u) << "what did not fit is ready";
}

TEST_F(LeaseTest, OneTaskIsLeasedHoweverLargeItIs) {
  Put(2, TaskOf(std::string(5000, 'x')));
  LeaseDemand demand = Demand({1, 1});
  demand.callers[0].max_bytes = 1;
  EXPECT_EQ(LeaseRows(demand).size(), 1u);
}

TEST_F(LeaseTest, BytesAreLimitedForAllCallersTogether) {
  Put(6, TaskOf(std::string(100, 'x')));
  LeaseDemand demand = Demand({1, 2, 3, 1, 2, 3});
  demand.bytes_max = 250;
  EXPECT_THAT(CallersOf(LeaseRows(demand)), ElementsAre(0, 1));
  demand = Demand({1, 2});
  demand.bytes_max = 1;
  EXPECT_THAT(CallersOf(LeaseRows(demand)), ElementsAre(0)) << "at least one";
}

TEST_F(LeaseTest, WhatFitsExactlyIsLeased) {
  for (const int64_t others : {400, 200}) {  // as much as all tasks have, and as its own
    Put(4, TaskOf(std::string(100, 'x')));
    LeaseDemand demand = Demand({1, 2, 2, 1});
    demand.callers[0].max_bytes = others;
    demand.callers[1].max_bytes = 400;
    demand.bytes_max = 400;
    EXPECT_THAT(CallersOf(LeaseRows(demand)), ElementsAre(0, 1, 1, 0)) << others;
  }
}

TEST_F(LeaseTest, BoundsLeaveOutWhatIsBeforeThem) {
  const std::vector<int64_t> ids = Put(4);
  LeaseDemand demand = Demand({1, 1, 1, 1});
  std::vector<LeasedRow> rows = LeaseRows(demand);
  Settle(testing::TokensOf(rows), Action::kRelease);
  demand.callers[0].ledger = testing::kLedger;
  demand.bounds[0].schedule_time = rows[1].task.schedule_time;
  demand.bounds[0].id = ids[1];
  EXPECT_THAT(IdsOf(LeaseRows(demand)), ElementsAre(ids[2], ids[3]));
}

TEST_F(LeaseTest, APriorityWithoutABoundIsNotSearched) {
  PutOne(TaskWithPriority(1));
  const int64_t id = PutOne(TaskWithPriority(2));
  LeaseDemand demand = Demand({1, 1});
  demand.bounds = {{2}};
  EXPECT_THAT(IdsOf(LeaseRows(demand)), ElementsAre(id));
}

TEST_F(LeaseTest, RowsThatAnotherSessionLocksAreSkipped) {
  const std::vector<int64_t> ids = Put(3);
  const auto other = Open();
  ASSERT_THAT(other->RunText(absl::StrCat("BEGIN; SELECT FROM skiplane.task WHERE id = ", ids[1],
                                          " FOR UPDATE")),
              IsOk());
  EXPECT_THAT(IdsOf(Take(3)), ElementsAre(ids[0], ids[2]));
  ASSERT_THAT(other->RunText("ROLLBACK"), IsOk());
  EXPECT_THAT(IdsOf(Take(3)), ElementsAre(ids[1]));
}

TEST_F(LeaseTest, ALeasedTaskIsNotLeasedAgain) {
  Put(2);
  EXPECT_EQ(Take(2).size(), 2u);
  EXPECT_THAT(Take(2, testing::kOtherWorker), IsEmpty());
}

TEST_F(LeaseTest, LeaseNumbersGrowAndAttemptsAreCounted) {
  PutOne();
  model::LeaseToken last = TakeOne();
  EXPECT_EQ(last.attempt, 1);
  for (int attempt = 2; attempt <= 4; ++attempt) {
    ASSERT_EQ(Settle({last}, Action::kRetry), 1u);
    LetTimePass();
    const model::LeaseToken next = TakeOne();
    EXPECT_GT(next.lease_number, last.lease_number);
    EXPECT_EQ(next.attempt, attempt);
    last = next;
  }
}

TEST_F(LeaseTest, ALeaseNumberGrowsAlsoWhenTheClockGoesBack) {
  PutOne();
  const int64_t ahead = absl::ToUnixMicros(absl::Now() + absl::Hours(24));
  Sql(absl::StrCat("UPDATE skiplane.task SET lease_number = ", ahead));
  EXPECT_EQ(TakeOne().lease_number, ahead + 1);
}

TEST_F(LeaseTest, TheRowSaysWhoHoldsItSinceWhen) {
  PutOne();
  const Leased leased = Required(Lease(*session_, Demand({1})));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 2 AND attempt = 1 AND "
                   "session = repeat('01', 16)::uuid AND lease_time > now() - interval '1 minute'"),
            1);
  EXPECT_EQ(Number("SELECT (date_part('epoch', lease_time) * 1e6)::int8 FROM skiplane.task"),
            absl::ToUnixMicros(leased.now));
}

TEST_F(LeaseTest, TheTokenHoldsTheRowLocation) {
  Put(3);
  for (const LeasedRow& row : Take(3)) {
    EXPECT_EQ(Sql(absl::StrCat("SELECT ctid FROM skiplane.task WHERE id = ",
                               row.task.token.task.id)),
              absl::StrCat("(", row.task.token.block, ",", row.task.token.offset, ")"));
  }
}

TEST_F(LeaseTest, AThousandTasksForManyCallers) {
  Put(1000);
  std::vector<int32_t> slots;
  for (int32_t i = 0; i < 1000; ++i) slots.push_back(i % 100 + 1);
  const std::vector<LeasedRow> rows = LeaseRows(Demand(slots));
  ASSERT_EQ(rows.size(), 1000u);
  std::vector<int> wanted;
  for (const int32_t slot : slots) wanted.push_back(slot - 1);
  EXPECT_THAT(CallersOf(rows), ElementsAreArray(wanted));
}

// Their place in the table says how well they compress; the answer holds all of them.
TEST_F(LeaseTest, HeadersCountAsTheyAreSent) {
  model::NewTask task = TaskWithPriority(0);
  for (int i = 0; i < 64; ++i) {
    task.headers.emplace_back(absl::StrCat("header-", i), std::string(4096, 'x'));
  }
  Put(4, task);
  LeaseDemand demand = Demand({1, 1, 1, 1});
  demand.callers[0].max_bytes = 600'000;
  EXPECT_EQ(LeaseRows(demand).size(), 2u);
}

}  // namespace
}  // namespace skiplane::store
