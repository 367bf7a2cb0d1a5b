// What NewTask asks for reaches a real broker and does what its comment says.
#include "skiplane/error.h"
#include "tests/client/broker_fixture.h"

namespace skiplane {
namespace {

class EnqueueOnBroker : public BrokerTest {
 protected:
  EnqueueOnBroker() { MakeQueue("q"); }

  EnqueueOutcome Repeat(KeyPolicy policy, const std::string& payload,
                        std::optional<int64_t> version = std::nullopt) {
    return Put("q", {.payload = payload, .key = "k", .key_policy = policy, .version = version})
        .outcome;
  }

  // What becomes of a task with a planned time an hour ago when a later one is acked.
  TaskState StateAfterMissedTimes(CatchUp catch_up) {
    const std::string id = Put("q", {.period = absl::Minutes(10), .catch_up = catch_up}).task_id;
    const LeasedTask task = Take("q");
    database_.Run("UPDATE skiplane.task SET planned_time = planned_time - interval '1 hour'");
    Ack(task);
    return View(id).state;
  }
};

TEST_F(EnqueueOnBroker, KeepAnswersWithWhoeverHoldsTheKey) {
  const EnqueueResult first = Put("q", {.payload = "old", .key = "k"});
  EXPECT_EQ(first.outcome, EnqueueOutcome::kCreated);
  Ack(Take("q"));
  const EnqueueResult second = Put("q", {.payload = "new", .key = "k"});
  EXPECT_EQ(second.outcome, EnqueueOutcome::kExisting);
  EXPECT_TRUE(second.existing);
  EXPECT_EQ(second.task_id, first.task_id);
}

TEST_F(EnqueueOnBroker, ATaskIsAwaitedByItsKeyAndBringsItsResult) {
  MakeQueue("kept", {.keep_results = true});
  const EnqueueResult made = Put("kept", {.key = "k"});
  EXPECT_EQ(made.state, TaskState::kReady);
  const auto early = client().GetTask({.queue = "kept", .key = "k", .wait = absl::Seconds(1)});
  ASSERT_TRUE(early.ok()) << early.status();
  EXPECT_EQ(early->state, TaskState::kReady);
  Ack(Take("kept"), {}, "42");
  const auto task = client().GetTask(
      {.queue = "kept", .key = "k", .wait = absl::Minutes(5), .with_result = true});
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->task_id, made.task_id);
  EXPECT_EQ(task->state, TaskState::kSucceeded);
  EXPECT_EQ(task->result, "42");
  EXPECT_EQ(Put("kept", {.key = "k"}).state, TaskState::kSucceeded);
}

TEST_F(EnqueueOnBroker, KeepUnfinishedStartsAFinishedTaskAgain) {
  Repeat(KeyPolicy::kKeepUnfinished, "old");
  EXPECT_EQ(Repeat(KeyPolicy::kKeepUnfinished, "other"), EnqueueOutcome::kExisting);
  Ack(Take("q"));
  EXPECT_EQ(Repeat(KeyPolicy::kKeepUnfinished, "new"), EnqueueOutcome::kRestarted);
  EXPECT_EQ(Take("q").payload, "new");
}

TEST_F(EnqueueOnBroker, ADeclaredScheduleIsTakenWithoutAnExtraRun) {
  const auto declare = [this](absl::Duration period) {
    return Put("q", {.key = "k", .key_policy = KeyPolicy::kSchedule, .period = period}).outcome;
  };
  EXPECT_EQ(declare(absl::Hours(1)), EnqueueOutcome::kCreated);
  Ack(Take("q"));
  EXPECT_EQ(declare(absl::Hours(1)), EnqueueOutcome::kExisting);
  EXPECT_EQ(declare(absl::Hours(2)), EnqueueOutcome::kReplaced);
  const auto idle = client().LeaseOne("q", absl::ZeroDuration());
  ASSERT_TRUE(idle.ok()) << idle.status();
  EXPECT_FALSE(idle->has_value());
}

TEST_F(EnqueueOnBroker, TasksOfOneCallGoToTheirOwnQueues) {
  MakeQueue("r");
  const auto results = client().Enqueue(
      {.queue = "q", .tasks = {{.payload = "here"}, {.payload = "there", .queue = "r"}}});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ(Take("q").payload, "here");
  EXPECT_EQ(Take("r").task_id, (*results)[1].task_id);
}

TEST_F(EnqueueOnBroker, RerunIfNewerRunsOnceMoreAfterTheAck) {
  Repeat(KeyPolicy::kRerunIfNewer, "1", 1);
  EXPECT_EQ(Repeat(KeyPolicy::kRerunIfNewer, "2", 2), EnqueueOutcome::kReplaced);
  EXPECT_EQ(Repeat(KeyPolicy::kRerunIfNewer, "old", 1), EnqueueOutcome::kExisting);
  const LeasedTask running = Take("q");
  EXPECT_EQ(running.payload, "2");
  EXPECT_EQ(running.version, 2);
  EXPECT_EQ(Repeat(KeyPolicy::kRerunIfNewer, "3", 3), EnqueueOutcome::kRerun);
  EXPECT_TRUE(View(running.task_id).rerun_pending);
  Ack(running);
  const LeasedTask again = Take("q");
  EXPECT_EQ(again.task_id, running.task_id);
  EXPECT_EQ(again.payload, "3");
  EXPECT_EQ(View(again.task_id).version, 3);
}

TEST_F(EnqueueOnBroker, ReplaceWaitingLeavesARunningTaskAlone) {
  Repeat(KeyPolicy::kReplaceWaiting, "old");
  EXPECT_EQ(Repeat(KeyPolicy::kReplaceWaiting, "new"), EnqueueOutcome::kReplaced);
  EXPECT_EQ(Take("q").payload, "new");
  EXPECT_EQ(Repeat(KeyPolicy::kReplaceWaiting, "later"), EnqueueOutcome::kExisting);
}

TEST_F(EnqueueOnBroker, RejectRefusesAKnownKey) {
  Repeat(KeyPolicy::kReject, "one");
  const auto result = client().Enqueue("q", {.key = "k", .key_policy = KeyPolicy::kReject});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ErrorReason(result.status()), "KEY_EXISTS");
}

TEST_F(EnqueueOnBroker, APeriodicTaskWaitsForItsNextPlannedTime) {
  const std::string id = Put("q", {.period = absl::Hours(1)}).task_id;
  const LeasedTask task = Take("q");
  ASSERT_TRUE(task.planned_time.has_value());
  Ack(task);
  const Task waiting = View(id);
  EXPECT_EQ(waiting.state, TaskState::kScheduled);
  EXPECT_EQ(waiting.schedule_time, *task.planned_time + absl::Hours(1));
}

TEST_F(EnqueueOnBroker, ACronFollowsTheClockOfItsZone) {
  const std::string id =
      Put("q", {.cron = "30 4 * * *", .time_zone = "Asia/Kolkata"}).task_id;
  // Five and a half hours ahead of UTC, all the year.
  EXPECT_EQ(absl::FormatTime("%H:%M", View(id).schedule_time, absl::UTCTimeZone()), "23:00");
}

TEST_F(EnqueueOnBroker, MissedTimesAreLeftOutOrRun) {
  EXPECT_EQ(StateAfterMissedTimes(CatchUp::kSkipMissed), TaskState::kScheduled);
  EXPECT_EQ(StateAfterMissedTimes(CatchUp::kRunAll), TaskState::kReady);
}

TEST_F(EnqueueOnBroker, ATaskBeginsAtItsStage) {
  MakeQueue("line", Stages({"a", "b"}));
  Put("line", {.payload = "first"});
  Put("line", {.payload = "second", .stage = "b"});
  const LeasedTask task = Take("line", "b");
  EXPECT_EQ(task.payload, "second");
  EXPECT_EQ(task.stage, "b");
  EXPECT_EQ(View(task.task_id).stage, "b");
}

TEST_F(EnqueueOnBroker, ATaskWithoutARecurrenceHasNoPlannedTime) {
  Put("q", {});
  const LeasedTask task = Take("q");
  EXPECT_FALSE(task.planned_time.has_value());
  EXPECT_EQ(task.version, std::nullopt);
}

TEST_F(EnqueueOnBroker, WhatCannotBeSaidIsRefusedOnItsField) {
  const auto field = [this](NewTask task) {
    return ErrorField(client().Enqueue("q", std::move(task)).status());
  };
  EXPECT_EQ(field({.key_policy = KeyPolicy::kReject}), "tasks[0].key_policy");
  EXPECT_EQ(field({.version = 1}), "tasks[0].version");
  EXPECT_EQ(field({.period = absl::ZeroDuration()}), "tasks[0].period");
  EXPECT_EQ(field({.cron = "61 * * * *"}), "tasks[0].cron");
  EXPECT_EQ(field({.time_zone = "UTC"}), "tasks[0].time_zone");
  EXPECT_EQ(field({.catch_up = CatchUp::kRunAll}), "tasks[0].catch_up");
  EXPECT_EQ(field({.stage = "none"}), "tasks[0].stage");
}

}  // namespace
}  // namespace skiplane
