// Tasks that the statement leases that makes them.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/store/enqueue.h"
#include "server/store/sessions.h"
#include "server/store/settle.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::IdsOf;
using testing::IsOk;
using testing::Required;
using testing::StatusIs;
using testing::TaskIn;
using testing::TaskOf;
using testing::TaskWithPriority;
using testing::UuidOf;

class EnqueueLeasedTest : public testing::StoreHarness {
 protected:
  EnqueueLeasedTest() {
    std::vector<Touch> sessions(2);
    for (const uint8_t number : {uint8_t{1}, uint8_t{2}}) {
      sessions[number - 1].worker_id = absl::StrCat("w", number);
      sessions[number - 1].new_id = UuidOf(number);
      sessions[number - 1].duration = absl::Minutes(1);
    }
    Required(TouchSessions(*session_, sessions));
  }

  // `callers`: per task, from 1.
  Enqueued HandOffTo(const std::vector<int32_t>& callers,
                     absl::Span<const RequestRow> requests = {}) {
    const HandOff hand_off{{Caller(1), Caller(2)}, callers};
    rows_ = Rows(tasks_);
    if (!requests.empty()) {
      for (TaskRow& row : rows_) row.call = requests.front().first_id;
    }
    return Required(EnqueueAsked(*session_, rows_, requests, &hand_off));
  }

  // Who leases for the session of this number, in the ledger row 9.
  static LeaseCaller Caller(uint8_t session) {
    LeaseCaller caller;
    caller.session = UuidOf(session);
    caller.ledger = UuidOf(9);
    return caller;
  }

  std::vector<model::NewTask> tasks_;
  std::vector<TaskRow> rows_;
};

TEST_F(EnqueueLeasedTest, IsTheTaskThatALeaseFinds) {
  tasks_ = {TaskOf("payload")};
  tasks_[0].content_type = "text/plain";
  tasks_[0].headers = {{"a", "1"}, {"b", "\"2\""}};
  tasks_[0].priority = 3;
  const Enqueued made = HandOffTo({2});
  EXPECT_THAT(made.unleased, IsEmpty());
  ASSERT_THAT(made.leased, SizeIs(1));
  const LeasedRow& leased = made.leased.front();
  EXPECT_EQ(leased.caller, 1);
  const auto found = Required(FindLeases(*session_, lane_, {}, {UuidOf(9)}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(leased.task.token, found[0].task.token);
  EXPECT_EQ(leased.task.token.session, UuidOf(2));
  EXPECT_EQ(leased.task.payload, found[0].task.payload);
  EXPECT_EQ(leased.task.content_type, found[0].task.content_type);
  EXPECT_EQ(leased.task.headers, found[0].task.headers);
  EXPECT_EQ(leased.task.priority, found[0].task.priority);
  EXPECT_EQ(leased.task.max_attempts, found[0].task.max_attempts);
  EXPECT_EQ(leased.task.schedule_time, found[0].task.schedule_time);
  EXPECT_EQ(leased.task.create_time, found[0].task.create_time);
  EXPECT_EQ(Settle({leased.task.token}, Action::kAck), 1u);
}

TEST_F(EnqueueLeasedTest, OthersOfTheBatchAreReadyOrWait) {
  tasks_ = {TaskOf("1"), TaskWithPriority(5), TaskIn(absl::Minutes(5)), TaskOf("4")};
  const Enqueued made = HandOffTo({1, 0, 0, 2});
  EXPECT_THAT(IdsOf(made.leased), ::testing::UnorderedElementsAre(rows_[0].id.id, rows_[3].id.id));
  ASSERT_THAT(made.unleased, SizeIs(2));
  EXPECT_NE(made.unleased[0].is_ready, made.unleased[1].is_ready);
  EXPECT_THAT(IdsOf(Take(5)), ElementsAre(rows_[1].id.id));
}

TEST_F(EnqueueLeasedTest, ATaskWhoseSessionDoesNotLiveIsReady) {
  Sql("UPDATE skiplane.worker_session SET expire_time = now() WHERE worker_id = 'w1'");
  tasks_ = {TaskOf("1"), TaskOf("2")};
  const Enqueued made = HandOffTo({1, 2});
  EXPECT_THAT(IdsOf(made.leased), ElementsAre(rows_[1].id.id));
  ASSERT_THAT(made.unleased, SizeIs(1));
  EXPECT_TRUE(made.unleased[0].is_ready);
  Sql("UPDATE skiplane.worker_session SET state = 2 WHERE worker_id = 'w2'");
  EXPECT_THAT(HandOffTo({0, 2}).leased, IsEmpty());
  EXPECT_THAT(Take(9), SizeIs(3));
}

TEST_F(EnqueueLeasedTest, ARepeatLeasesNothing) {
  tasks_ = {TaskOf("1")};
  const RequestRow request{lane_, "r", "hash of all that it says", 77};
  EXPECT_THAT(HandOffTo({1}, {&request, 1}).leased, SizeIs(1));
  const Enqueued again = HandOffTo({1}, {&request, 1});
  EXPECT_THAT(again.leased, IsEmpty());
  EXPECT_THAT(again.made, IsEmpty());
  EXPECT_THAT(Take(9), IsEmpty());
}

TEST_F(EnqueueLeasedTest, LanesHaveLedgerRowsOfTheirOwn) {
  const int64_t first = lane_;
  tasks_ = {TaskOf("1"), TaskOf("2")};
  rows_ = Rows(tasks_);
  rows_[1].id.lane = MakeLane("other");
  const HandOff hand_off{{Caller(1)}, {1, 1}};
  const Enqueued made = Required(EnqueueAsked(*session_, rows_, {}, &hand_off));
  EXPECT_THAT(made.leased, SizeIs(2));
  for (const int64_t lane : {first, rows_[1].id.lane}) {
    EXPECT_THAT(Required(FindLeases(*session_, lane, {}, {UuidOf(9)})), SizeIs(1));
  }
}

TEST_F(EnqueueLeasedTest, ACallersRequestIdFindsWhatItGot) {
  tasks_ = {TaskOf("1"), TaskOf("2"), TaskOf("3")};
  rows_ = Rows(tasks_);
  HandOff hand_off{{Caller(1), Caller(2), Caller(2)}, {2, 1, 3}};
  hand_off.callers[1].request_id = "bob's";
  hand_off.callers[1].ledger = UuidOf(8);
  ASSERT_THAT(Required(EnqueueAsked(*session_, rows_, {}, &hand_off)).leased, SizeIs(3));
  EXPECT_THAT(IdsOf(Required(FindRequest(*session_, lane_, {"bob's"}))),
              ElementsAre(rows_[0].id.id));
  EXPECT_THAT(IdsOf(Required(FindLeases(*session_, lane_, {}, {UuidOf(9)}))),
              ::testing::UnorderedElementsAre(rows_[1].id.id, rows_[2].id.id));
}

// At another broker, or here by an earlier call: it is to get that, and nothing else.
TEST_F(EnqueueLeasedTest, NothingIsMadeForARequestIdThatHasALease) {
  tasks_ = {TaskOf("1")};
  rows_ = Rows(tasks_);
  HandOff hand_off{{Caller(1)}, {1}};
  hand_off.callers[0].request_id = "ann's";
  Required(EnqueueAsked(*session_, rows_, {}, &hand_off));
  const std::vector<TaskRow> again = Rows(tasks_);
  hand_off.callers[0].ledger = UuidOf(8);
  EXPECT_THAT(EnqueueAsked(*session_, again, {}, &hand_off).status(),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 1);
}

// After a lost answer: what CloseLedger has closed is never leased.
TEST_F(EnqueueLeasedTest, AClosedLedgerMakesNothing) {
  const pg::Uuid ledger = UuidOf(9);
  ASSERT_THAT(CloseLedger(*session_, lane_, {&ledger, 1}), IsOk());
  tasks_ = {TaskOf("1")};
  rows_ = Rows(tasks_);
  const HandOff hand_off{{Caller(1)}, {1}};
  EXPECT_FALSE(EnqueueAsked(*session_, rows_, {}, &hand_off).ok());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
}

}  // namespace
}  // namespace skiplane::store
