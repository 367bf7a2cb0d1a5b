// Every kind of end wakes those who wait for it by itself: here no regular look finds one.
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/upkeep/reclaimer.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using Kind = model::TaskChange::Kind;
using model::TaskState;

class ToldEndsTest : public BrokerHarness {
 protected:
  ToldEndsTest() {
    broker().Stop();
    broker_ = NewBroker(true, 4, {std::chrono::hours(1), std::chrono::hours(1)});
    WaitForListeners(1);  // a broker that begins to hear looks for all that is awaited
    id_ = Enqueue({Payload("x")})[0].id;
  }

  void Await() {
    broker::GetTaskCall call;
    call.id = id_;
    call.wait = absl::Minutes(1);
    waiting_ = broker().AsOperator().GetTask(std::move(call), answer_.done());
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    // Once it has been read, only what tells of the end can find it.
    while (!absl::StrContains(metrics_.Text(), "\nskiplane_awaiting_calls 1\n") ||
           RunsOf("task_get") < 1) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    }
  }

  void Change(Kind kind) {
    broker::ChangeTaskCall call;
    call.id = id_;
    call.change.kind = kind;
    call.origin = Origin();
    Later<model::TaskView> changed;
    broker().AsOperator().ChangeTask(std::move(call), changed.done());
    EXPECT_THAT(changed.Get(), IsOk());
  }

  void ExpectEnd(TaskState state) {
    const auto details = answer_.Get();
    ASSERT_THAT(details, IsOk());
    EXPECT_EQ(details->task.state, state);
    EXPECT_LT(RunsOf("task_known"), 1) << "found by a look";
  }

  model::TaskId id_;
  Later<broker::TaskDetails> answer_;
  std::shared_ptr<broker::PendingTask> waiting_;
};

TEST_F(ToldEndsTest, AnAck) {
  const model::LeasedTask task = LeaseOne("w");
  Await();
  Ack(task.token);
  ExpectEnd(TaskState::kSucceeded);
}

TEST_F(ToldEndsTest, AFailure) {
  const model::LeasedTask task = LeaseOne("w");
  Await();
  model::NackItem item;
  item.token = task.token;
  item.disposition = model::NackDisposition::kFail;
  Nack(std::move(item));
  ExpectEnd(TaskState::kFailed);
}

TEST_F(ToldEndsTest, TheCancelOfAWaitingTask) {
  Await();
  Change(Kind::kCancel);
  ExpectEnd(TaskState::kCancelled);
}

TEST_F(ToldEndsTest, TheCancelOfARunningTask) {
  const model::LeasedTask task = LeaseOne("w");
  Await();
  Change(Kind::kCancel);
  model::NackItem item;
  item.token = task.token;
  Nack(std::move(item));
  ExpectEnd(TaskState::kCancelled);
}

TEST_F(ToldEndsTest, ADeletion) {
  Await();
  Change(Kind::kDelete);
  EXPECT_THAT(answer_.Get(), ReasonIs("TASK_NOT_FOUND"));
}

TEST_F(ToldEndsTest, ABulkOperation) {
  Await();
  broker::StartBulkCall call;
  call.filter.queue = "q";
  call.filter.states = {true, true, true, false, true, false};
  call.change.kind = Kind::kCancel;
  call.origin = Origin();
  Later<model::BulkOperation> started;
  broker().AsOperator().StartBulk(std::move(call), started.done());
  ASSERT_THAT(started.Get(), IsOk());
  ExpectEnd(TaskState::kCancelled);
}

TEST_F(ToldEndsTest, TheEndOfASession) {
  Sql("UPDATE skiplane.task SET max_attempts = 1");
  const model::LeasedTask task = LeaseOne("w");
  Change(Kind::kCancel);
  Await();
  broker::HeartbeatCall call;
  call.worker_id = "w";
  call.end_session = true;
  Later<broker::HeartbeatAnswer> ended;
  broker().Heartbeat(std::move(call), ended.done());
  ASSERT_THAT(ended.Get(), IsOk());
  ExpectEnd(TaskState::kCancelled);
}

// By another process: this broker hears of it.
TEST_F(ToldEndsTest, ALostWorker) {
  Sql("UPDATE skiplane.task SET max_attempts = 1");
  LeaseOne("w");
  Await();
  Sql("UPDATE skiplane.worker_session SET expire_time = now() - interval '1 s'");
  const auto session = pg::Session::Open({.uri = database_.uri()}, nullptr);
  ASSERT_THAT(session, IsOk());
  upkeep::Reclaimer reclaimer(model::NewSessionId(), &metrics_);
  const auto result = reclaimer.RunOnce(**session, false);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->failed, 1);
  ExpectEnd(TaskState::kFailed);
}

}  // namespace
}  // namespace skiplane::testing
