// Operators' changes with a request id: whatever is repeated or sent twice at once, each is made
// once. What becomes of lost answers is in tests/system/change_once_test.py.
#include "gmock/gmock.h"
#include "server/broker/api/request_hash.h"
#include "server/upkeep/retention.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using Kind = model::TaskChange::Kind;

class ChangeOnceTest : public BrokerHarness {
 protected:
  // `request_id` may be empty: none.
  static broker::ChangeTaskCall Call(const model::TaskId& task, Kind kind,
                                     const std::string& request_id) {
    broker::ChangeTaskCall call;
    call.id = task;
    call.change.kind = kind;
    call.change.postpone = absl::Hours(1);
    call.origin = Origin();
    if (!request_id.empty()) {
      call.origin.request = broker::HashChange(
          "", request_id, "Test", absl::StrCat(task.id, " ", static_cast<int>(kind)));
    }
    return call;
  }
  absl::StatusOr<model::TaskView> Change(broker::Broker& at, broker::ChangeTaskCall call) {
    Later<model::TaskView> later;
    at.AsOperator().ChangeTask(std::move(call), later.done());
    return later.Get();
  }
  absl::StatusOr<model::TaskView> Change(const model::TaskId& task, Kind kind,
                                         const std::string& request_id) {
    return Change(broker(), Call(task, kind, request_id));
  }
  model::TaskId PutDelayed() {
    model::NewTask task = Payload("x");
    task.delay = absl::Hours(1);
    return Enqueue({task}).front().id;
  }
  // By how many hours the task was postponed, of the one hour that it began with.
  int64_t Postponed(const model::TaskId& task) const {
    return Number(absl::StrCat("SELECT extract(epoch "
                               "FROM schedule_time - create_time)::int8 / 3600 - 1 ",
                               "FROM skiplane.task WHERE id = ", task.id));
  }
  int64_t Audited() const { return Number("SELECT count(*) FROM skiplane.audit"); }
};

TEST_F(ChangeOnceTest, ARepeatAtAnyBrokerChangesNothing) {
  const model::TaskId task = PutDelayed();
  const auto other = NewBroker();
  const auto first = Change(task, Kind::kPostpone, "r");
  const auto again = Change(task, Kind::kPostpone, "r");
  const auto elsewhere = Change(*other, Call(task, Kind::kPostpone, "r"));
  for (const auto& answer : {first, again, elsewhere}) {
    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(answer->schedule_time, first->schedule_time);
  }
  EXPECT_EQ(Postponed(task), 1);
  EXPECT_EQ(Audited(), 1);
  EXPECT_THAT(Change(task, Kind::kPostpone, "another"), IsOk());
  EXPECT_THAT(Change(task, Kind::kPostpone, ""), IsOk());
  EXPECT_EQ(Postponed(task), 3);
}

TEST_F(ChangeOnceTest, AnIdThatWasUsedForSomethingElseIsRefused) {
  const model::TaskId task = PutDelayed();
  ASSERT_THAT(Change(task, Kind::kPostpone, "r"), IsOk());
  const auto refused = Change(task, Kind::kDelete, "r");
  EXPECT_THAT(refused, ReasonIs("REQUEST_ID_REUSED"));
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(Change(PutDelayed(), Kind::kPostpone, "r"), ReasonIs("REQUEST_ID_REUSED"));
  EXPECT_EQ(Postponed(task), 1);
  EXPECT_EQ(Audited(), 1);
}

TEST_F(ChangeOnceTest, AChangeThatWasRefusedMayBeTriedAgain) {
  const model::TaskId task = Enqueue({Payload("x")}).front().id;
  EXPECT_THAT(Change(task, Kind::kRetry, "r"), ReasonIs("WRONG_STATE"));
  model::NackItem nack;
  nack.token = LeaseOne("w").token;
  nack.disposition = model::NackDisposition::kFail;
  Nack(std::move(nack));
  EXPECT_THAT(Change(task, Kind::kRetry, "r"), IsOk());
  EXPECT_THAT(Change(task, Kind::kRetry, "r"), IsOk());
  EXPECT_EQ(Audited(), 1);
}

TEST_F(ChangeOnceTest, OfManyAtOnceAtTwoBrokersOneIsMade) {
  const model::TaskId task = PutDelayed();
  const auto other = NewBroker();
  for (int round = 1; round <= 10; ++round) {
    std::vector<Later<model::TaskView>> answers(8);
    for (size_t i = 0; i < answers.size(); ++i) {
      broker::Broker& at = i % 2 == 0 ? static_cast<broker::Broker&>(broker()) : *other;
      at.AsOperator().ChangeTask(Call(task, Kind::kPostpone, absl::StrCat("r", round)),
                                 answers[i].done());
    }
    for (auto& answer : answers) ASSERT_THAT(answer.Get(), IsOk());
    ASSERT_EQ(Postponed(task), round);
  }
}

TEST_F(ChangeOnceTest, ARepeatIsAnsweredThoughTheTaskIsGone) {
  Later<model::Queue> made;
  broker::CreateQueueCall queue;
  queue.name = "q";
  queue.settings.emplace().history = model::HistoryPolicy::kNone;
  queue.origin = Origin();
  broker().CreateQueue(std::move(queue), made.done());
  ASSERT_THAT(made.Get(), IsOk());
  const model::TaskId cancelled = PutDelayed();
  const model::TaskId removed = PutDelayed();
  for (int i = 0; i < 2; ++i) {
    const auto answer = Change(cancelled, Kind::kCancel, "cancel");
    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(answer->id, cancelled);
    EXPECT_EQ(answer->queue, "q");
    EXPECT_EQ(answer->state, model::TaskState::kCancelled);
    EXPECT_THAT(Change(removed, Kind::kDelete, "delete"), IsOk());
  }
  EXPECT_THAT(Change(removed, Kind::kDelete, ""), ReasonIs("TASK_NOT_FOUND"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.audit WHERE method_name = 'Test'"), 3);
}

TEST_F(ChangeOnceTest, AnUpdateWithAnEtagFindsItsOwnChange) {
  Enqueue({Payload("x")});
  for (int i = 0; i < 2; ++i) {
    broker::UpdateQueueCall call;
    call.name = "q";
    call.version = 1;
    call.change = [](const model::QueueSettings& settings) { return settings; };
    call.origin = Origin();
    call.origin.request = broker::HashChange("", "r", "Test", "");
    Later<model::Queue> updated;
    broker().UpdateQueue(std::move(call), updated.done());
    const auto queue = updated.Get();
    ASSERT_THAT(queue, IsOk());
    EXPECT_EQ(queue->version, 2);
  }
}

TEST_F(ChangeOnceTest, IdsAreForgottenAfterADay) {
  const model::TaskId task = PutDelayed();
  ASSERT_THAT(Change(task, Kind::kPostpone, "r"), IsOk());
  upkeep::Retention retention;
  const auto session = pg::Session::Open({.uri = database_.uri()}, nullptr);
  ASSERT_THAT(session, IsOk());
  for (const char* age : {"23 hours", "25 hours"}) {
    ASSERT_THAT(Change(task, Kind::kPostpone, "r"), IsOk());
    EXPECT_EQ(Postponed(task), 1);
    Sql(absl::StrCat("UPDATE skiplane.admin_request SET create_time = now() - interval '", age,
                     "'"));
    ASSERT_THAT(retention.RunOnce(**session), IsOk());
  }
  ASSERT_THAT(Change(task, Kind::kPostpone, "r"), IsOk());
  EXPECT_EQ(Postponed(task), 2);
}

}  // namespace
}  // namespace skiplane::testing
