// What the results of handlers bring about in an InMemoryBroker.
#include <stdexcept>

#include "skiplane/worker.h"
#include "tests/client/testing/fixture.h"

namespace skiplane {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

using InMemoryAttemptsTest = InMemoryTest;

TEST_F(InMemoryAttemptsTest, ATaskThatIsDoneHasSucceededWithItsOutput) {
  const auto worker = Started([](const LeasedTask& task, Attempt&) {
    return Result::Done(task.payload + " is done");
  });
  const std::string id = Put({.payload = "it"});
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  const Task task = Seen(id);
  EXPECT_EQ(task.state, TaskState::kSucceeded);
  EXPECT_EQ(task.result, "it is done");
  EXPECT_EQ(task.attempt_count, 1);
  EXPECT_EQ(worker->counts().done, 1);
  EXPECT_EQ(broker_.GetTask(id)->result, "") << "which was not asked for";
}

TEST_F(InMemoryAttemptsTest, ARetryWaitsFiveMinutesForEachAttemptBefore) {
  std::vector<int> attempts;
  const auto worker = Started([&](const LeasedTask& task, Attempt&) {
    attempts.push_back(task.attempt);
    EXPECT_EQ(task.last_error.has_value(), task.attempt > 1);
    return Result::Retry({.type = "Away"});
  });
  const std::string id = Put({});
  const absl::Time begin = broker_.Now();
  broker_.RunUntilIdle();
  EXPECT_EQ(Seen(id).state, TaskState::kScheduled);
  EXPECT_EQ(Seen(id).schedule_time, begin + absl::Minutes(5));
  broker_.Advance(absl::Minutes(5) - absl::Nanoseconds(1));
  EXPECT_EQ(broker_.RunUntilIdle(), 0);
  broker_.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(Seen(id).state, TaskState::kReady);
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  EXPECT_EQ(Seen(id).schedule_time, begin + absl::Minutes(15));
  EXPECT_THAT(attempts, ElementsAre(1, 2));
  EXPECT_EQ(worker->counts().retried, 2);
}

TEST_F(InMemoryAttemptsTest, ATaskFailsWithItsLastAttempt) {
  const auto worker = Started([](const LeasedTask&, Attempt&) {
    return Result::Retry({.type = "Away", .text = "no"}, absl::ZeroDuration());
  });
  const std::string id = Put({.payload = "dead", .max_attempts = 3});
  EXPECT_EQ(broker_.RunUntilIdle(), 3);
  const std::vector<StoredTask> failed = broker_.Tasks("q", TaskState::kFailed);
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_EQ(failed[0].task.task_id, id);
  EXPECT_EQ(failed[0].task.attempt_count, 3);
  EXPECT_EQ(failed[0].task.last_error->text, "no");
  EXPECT_EQ(failed[0].payload, "dead");
  EXPECT_EQ(worker->counts().retried, 2);
  EXPECT_EQ(worker->counts().failed, 1);
}

TEST_F(InMemoryAttemptsTest, AFailureForGoodLeavesNoAttempt) {
  const auto worker = Started(
      [](const LeasedTask&, Attempt&) { return Result::Fail({.type = "Bad"}); });
  const std::string id = Put({});
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  EXPECT_EQ(Seen(id).state, TaskState::kFailed);
  ASSERT_TRUE(broker_.Retry(id).ok());
  EXPECT_EQ(Seen(id).attempt_count, 0);
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  EXPECT_EQ(ErrorReason(broker_.Cancel(id)), "WRONG_STATE");
}

TEST_F(InMemoryAttemptsTest, AReleasedTaskIsNotChargedAndRunsInTheNextCall) {
  const auto worker = Started([](const LeasedTask&, Attempt&) { return Result::Release(); });
  const std::string id = Put({.max_attempts = 1});
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  EXPECT_EQ(Seen(id).state, TaskState::kReady);
  EXPECT_EQ(Seen(id).attempt_count, 0);
  EXPECT_EQ(worker->counts().released, 2);
}

TEST_F(InMemoryAttemptsTest, AHandlerThatThrowsHasFailed) {
  const auto worker = Started(
      [](const LeasedTask&, Attempt&) -> Result { throw std::runtime_error("oh"); });
  const std::string id = Put({});
  broker_.RunUntilIdle();
  EXPECT_EQ(Seen(id).last_error->text, "oh");
}

TEST_F(InMemoryAttemptsTest, ProgressIsForTheNextAttempt) {
  const auto worker = Started([](const LeasedTask& task, Attempt& attempt) {
    if (task.last_progress) return Result::Done(task.last_progress->message);
    attempt.Report({.fraction = 0.5, .message = "page 40"});
    return Result::Retry({}, absl::ZeroDuration());
  });
  const std::string id = Put({});
  broker_.RunUntilIdle();
  EXPECT_EQ(Seen(id).result, "page 40");
}

TEST_F(InMemoryAttemptsTest, ALostLeaseIsChargedAndItsResultDropped) {
  bool was_asked = false;
  const auto worker = Started([&](const LeasedTask& task, Attempt& attempt) {
    if (task.attempt == 2) return Result::Done(task.last_error->type);
    EXPECT_TRUE(broker_.LoseLease(task.task_id).ok());
    was_asked = attempt.stop_token().stop_requested();
    return Result::Fail({.type = "Dropped"});
  });
  const std::string id = Put({});
  broker_.RunUntilIdle();
  EXPECT_TRUE(was_asked);
  EXPECT_EQ(Seen(id).result, "LEASE_LOST");
  EXPECT_EQ(worker->counts().lost, 1);
  EXPECT_EQ(worker->counts().done, 1);
}

TEST_F(InMemoryAttemptsTest, AnAttemptThatRunsTooLongIsLost) {
  ASSERT_TRUE(broker_.CreateQueue("q", {.max_run_duration = absl::Minutes(1)}).ok());
  const auto worker = Started([&](const LeasedTask& task, Attempt&) {
    broker_.Advance(absl::Minutes(task.attempt == 1 ? 2 : 1));
    return Result::Done();
  });
  const std::string id = Put({});
  EXPECT_EQ(broker_.RunUntilIdle(), 2);
  EXPECT_EQ(worker->counts().lost, 1);
  EXPECT_EQ(Seen(id).state, TaskState::kSucceeded);
}

TEST_F(InMemoryAttemptsTest, ACancelAsksTheHandlerAndEndsTheTask) {
  const auto worker = Started([&](const LeasedTask& task, Attempt& attempt) {
    EXPECT_TRUE(broker_.Cancel(task.task_id).ok());
    EXPECT_TRUE(attempt.stop_token().stop_requested());
    return Result::Release();
  });
  const std::string running = Put({});
  broker_.RunUntilIdle();
  EXPECT_EQ(Seen(running).state, TaskState::kCancelled);
  EXPECT_EQ(worker->counts().cancelled, 1);
  const std::string waiting = Put({.delay = absl::Hours(1)});
  EXPECT_TRUE(broker_.Cancel(waiting).ok());
  EXPECT_EQ(Seen(waiting).state, TaskState::kCancelled);
}

TEST_F(InMemoryAttemptsTest, FollowUpsComeWithTheAckOnly) {
  const auto worker = Started([](const LeasedTask& task, Attempt&) {
    AckMore more;
    more.follow_ups = {{.payload = "next", .queue = "other"}, {.queue = task.payload}};
    return Result::Done("", std::move(more));
  });
  const std::string bad = Put({.payload = "no name!", .max_attempts = 1});
  broker_.RunUntilIdle();
  EXPECT_EQ(Seen(bad).state, TaskState::kFailed);
  EXPECT_EQ(Seen(bad).last_error->type, "INVALID_FIELD") << "as a Worker nacks it";
  EXPECT_TRUE(broker_.Tasks("other").empty());
  Put({.payload = "third"});
  broker_.RunUntilIdle();
  ASSERT_THAT(broker_.Tasks("other"), SizeIs(1));
  EXPECT_EQ(broker_.Tasks("other")[0].payload, "next");
  EXPECT_THAT(broker_.Tasks("third"), SizeIs(1));
}

TEST_F(InMemoryAttemptsTest, ATaskGoesThroughTheStages) {
  QueueSettings settings;
  settings.stages = {{.name = "fetch"}, {.name = "store", .retry = RetryPolicy{.max_attempts = 1}}};
  ASSERT_TRUE(broker_.CreateQueue("q", settings).ok());
  const auto worker = Started([this](const LeasedTask& task, Attempt&) {
    ran_.push_back(task.stage + ":" + task.payload);
    if (task.stage == "store") return Result::Retry({.type = "Full"});
    AckMore more;
    more.next_payload = NextPayload{.payload = "page"};
    return Result::Done("", std::move(more));
  });
  const std::string id = Put({.payload = "url"});
  broker_.RunUntilIdle();
  EXPECT_THAT(ran_, ElementsAre("fetch:url", "store:page"));
  EXPECT_EQ(Seen(id).state, TaskState::kFailed);
  EXPECT_EQ(Seen(id).stage, "store");
}

TEST_F(InMemoryAttemptsTest, APeriodicTaskRunsAtItsPlannedTimes) {
  const auto worker = Noting();
  const std::string id = Put({.payload = "p", .period = absl::Hours(1)});
  EXPECT_EQ(broker_.RunFor(absl::Hours(3)), 4) << "at once, and after each hour";
  broker_.Advance(absl::Minutes(150));
  EXPECT_EQ(broker_.RunUntilIdle(), 1) << "what was missed is skipped";
  EXPECT_EQ(Seen(id).schedule_time, broker_.Now() + absl::Minutes(30));
  ASSERT_TRUE(broker_.Trigger(id).ok());
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  EXPECT_EQ(Seen(id).schedule_time, broker_.Now() + absl::Minutes(30));
}

TEST_F(InMemoryAttemptsTest, ACronScheduleRunsWhenItIsTriggered) {
  const auto worker = Noting();
  const NewTask declared{
      .payload = "c", .key = "k", .key_policy = KeyPolicy::kSchedule, .cron = "0 3 * * *"};
  const std::string id = Put(declared);
  EXPECT_EQ(broker_.RunFor(absl::Hours(48)), 0);
  EXPECT_EQ(broker_.Enqueue("q", declared)->outcome, EnqueueOutcome::kExisting);
  ASSERT_TRUE(broker_.Trigger(id).ok());
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  EXPECT_EQ(Seen(id).state, TaskState::kScheduled);
}

}  // namespace
}  // namespace skiplane
