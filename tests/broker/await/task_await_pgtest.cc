// Calls that wait for the ends of tasks.
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using model::TaskState;

class TaskAwaitTest : public BrokerHarness {
 protected:
  std::shared_ptr<broker::PendingTask> Await(broker::Broker& at, const model::TaskId& id,
                                             Later<broker::TaskDetails>& later,
                                             absl::Duration wait = absl::Minutes(1)) {
    broker::GetTaskCall call;
    call.id = id;
    call.wait = wait;
    return at.AsOperator().GetTask(std::move(call), later.done());
  }

  // Of all brokers, which share their metrics.
  void WaitForAwaiting(int64_t calls) const {
    const std::string line = absl::StrCat("\nskiplane_awaiting_calls ", calls, "\n");
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!absl::StrContains(metrics_.Text(), line)) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    }
  }

  static TaskState StateOf(Later<broker::TaskDetails>& later) {
    const auto details = later.Get();
    EXPECT_THAT(details, IsOk());
    return details.ok() ? details->task.state : TaskState::kScheduled;
  }
};

TEST_F(TaskAwaitTest, ManyAreAnsweredByTheCommitThatEndsTheirTasks) {
  constexpr int kTasks = 200;
  const auto made = Enqueue(std::vector<model::NewTask>(kTasks));
  std::vector<Later<broker::TaskDetails>> answers(kTasks);
  for (int i = 0; i < kTasks; ++i) Await(broker(), made[i].id, answers[i]);
  WaitForAwaiting(kTasks);
  std::vector<model::LeaseToken> tokens;
  for (const model::LeasedTask& task : Lease(LeaseOf("w", kTasks)).tasks) {
    tokens.push_back(task.token);
  }
  ASSERT_EQ(tokens.size(), static_cast<size_t>(kTasks));
  ASSERT_THAT(AckTokens(broker(), tokens), IsOk());
  for (auto& answer : answers) EXPECT_EQ(StateOf(answer), TaskState::kSucceeded);
  WaitForAwaiting(0);
}

TEST_F(TaskAwaitTest, TheOtherBrokerTellsOfTheEndOfATaskThatIsAwaitedAndOfNoOther) {
  const auto other = NewBroker();
  WaitForListeners(2);
  const auto made = Enqueue({Payload("awaited"), Payload("nobody's")});
  Later<broker::TaskDetails> later;
  Await(broker(), made[0].id, later);
  WaitForAwaiting(1);
  for (int i = 0; i < 2; ++i) {
    Later<broker::LeaseAnswer> leased;
    const auto lease = other->Lease(LeaseOf("w"), leased.done());
    const auto answer = leased.Get();
    ASSERT_THAT(answer, IsOk());
    ASSERT_EQ(answer->tasks.size(), 1u);
    ASSERT_THAT(AckTokens(*other, {answer->tasks[0].token}), IsOk());
  }
  EXPECT_EQ(StateOf(later), TaskState::kSucceeded);
  other->Stop();
}

TEST_F(TaskAwaitTest, WhoHasGoneIsForgotten) {
  const auto made = Enqueue({Payload("x")});
  Later<broker::TaskDetails> later;
  const auto call = Await(broker(), made[0].id, later);
  WaitForAwaiting(1);
  call->Cancel();
  EXPECT_THAT(later.Get(), StatusIs(absl::StatusCode::kCancelled));
  WaitForAwaiting(0);
  call->Cancel();
}

TEST_F(TaskAwaitTest, ADrainAnswersWhoWaitsAndLetsNobodyWait) {
  const auto made = Enqueue({Payload("x")});
  Later<broker::TaskDetails> before, after;
  Await(broker(), made[0].id, before);
  WaitForAwaiting(1);
  broker().BeginDrain();
  Await(broker(), made[0].id, after);
  EXPECT_EQ(StateOf(before), TaskState::kReady);
  EXPECT_EQ(StateOf(after), TaskState::kReady);
}

TEST_F(TaskAwaitTest, AStopAnswersWhoWaits) {
  const auto made = Enqueue({Payload("x")});
  Later<broker::TaskDetails> later;
  Await(broker(), made[0].id, later);
  WaitForAwaiting(1);
  broker().Stop();
  EXPECT_EQ(StateOf(later), TaskState::kReady);
}

TEST_F(TaskAwaitTest, OneStatementFindsTheEndsThatNobodyTold) {
  constexpr int kTasks = 50;
  const auto made = Enqueue(std::vector<model::NewTask>(kTasks));
  std::vector<Later<broker::TaskDetails>> answers(kTasks);
  for (int i = 0; i < kTasks; ++i) Await(broker(), made[i].id, answers[i]);
  WaitForAwaiting(kTasks);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (RunsOf("task_get") < kTasks) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  const int64_t passes = RunsOf("task_known");
  Sql("DELETE FROM skiplane.task");
  for (auto& answer : answers) EXPECT_THAT(answer.Get(), ReasonIs("TASK_NOT_FOUND"));
  EXPECT_EQ(RunsOf("task_get"), 2 * kTasks);
  EXPECT_LT(RunsOf("task_known"), passes + kTasks);
}

}  // namespace
}  // namespace skiplane::testing
