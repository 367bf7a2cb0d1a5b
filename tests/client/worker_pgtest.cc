// A Worker on a real broker: what its handlers see, and what becomes of what they return.
#include "skiplane/worker.h"

#include <future>

#include "tests/client/broker_fixture.h"

namespace skiplane {
namespace {

class WorkerOnBroker : public BrokerTest {
 protected:
  WorkerOnBroker() {
    QueueSettings settings = Stages({"a", "b", "c"});
    settings.retry.base_delay = absl::Hours(1);
    MakeQueue("line", settings);
    MakeQueue("next");
  }

  // Runs a worker of the stage (of any, if it is empty) until its handler has returned for `count`
  // tasks, and returns the tasks that it saw.
  std::vector<LeasedTask> Run(const std::string& stage, int count,
                              const std::function<Result(const LeasedTask&)>& handle) {
    std::vector<LeasedTask> seen;
    std::promise<void> ran;
    auto worker = Worker::Start(client(), {.queues = {{.name = "line", .stage = stage}}},
                                [&](const LeasedTask& task, Attempt&) {
                                  seen.push_back(task);
                                  Result result = handle(task);
                                  if (static_cast<int>(seen.size()) == count) ran.set_value();
                                  return result;
                                });
    EXPECT_TRUE(worker.ok()) << worker.status();
    EXPECT_EQ(ran.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
    (*worker)->Stop();
    counts_ = (*worker)->counts();
    return seen;
  }

  WorkerCounts counts_;
};

TEST_F(WorkerOnBroker, AWorkerGetsTasksOfItsStageOnlyAndSeesWhatTheyAre) {
  Put("line", {.payload = "other"});
  Put("line", {.key = "k", .version = 8, .period = absl::Hours(1), .stage = "b"});
  const std::vector<LeasedTask> seen =
      Run("b", 1, [](const LeasedTask&) { return Result::Done("", {.finish = true}); });
  EXPECT_EQ(seen[0].stage, "b");
  EXPECT_EQ(seen[0].version, 8);
  EXPECT_TRUE(seen[0].planned_time.has_value());
}

TEST_F(WorkerOnBroker, AHandlerSendsItsTaskToAStageWithAnotherPayload) {
  Put("line", {.payload = "old"});
  Run("a", 1, [](const LeasedTask& task) {
    return Result::Done("", {.next_stage = "c",
                             .next_payload = NextPayload{.payload = task.payload + "+"}});
  });
  EXPECT_EQ(Take("line", "c").payload, "old+");
}

TEST_F(WorkerOnBroker, AHandlerFinishesItsTaskWithAResult) {
  const std::string id = Put("line", {}).task_id;
  Run("", 1, [](const LeasedTask&) { return Result::Done("7", {.finish = true}); });
  EXPECT_EQ(View(id).state, TaskState::kSucceeded);
  EXPECT_EQ(database_.Run("SELECT encode(result, 'escape') FROM skiplane.history"), "7");
}

TEST_F(WorkerOnBroker, AHandlersFollowUpsAreMade) {
  Put("line", {.payload = "p"});
  Run("a", 1, [](const LeasedTask& task) {
    return Result::Done("", {.follow_ups = {{.payload = task.payload, .queue = "next"}}});
  });
  EXPECT_EQ(Take("next").payload, "p");
  EXPECT_EQ(Take("line").stage, "b");
}

TEST_F(WorkerOnBroker, AHangedRunIsAskedToStopAndTheNextTaskHasItsTurn) {
  MakeQueue("hasty", {.max_run_duration = absl::Seconds(1)});
  const std::string hanged = Put("hasty", {.payload = "hang", .max_attempts = 1}).task_id;
  Put("hasty", {.payload = "good"});
  std::promise<void> ran;
  auto worker = Worker::Start(
      client(), {.queues = {{.name = "hasty"}}, .lease_duration = absl::Seconds(10)},
      [&](const LeasedTask& task, Attempt& attempt) {
        if (task.payload == "good") {
          ran.set_value();
          return Result::Done();
        }
        std::promise<void> stopped;
        const std::stop_callback stop(attempt.stop_token(), [&] { stopped.set_value(); });
        stopped.get_future().wait();
        // The next one may take its time on a busy machine.
        EXPECT_TRUE(client().UpdateQueue("hasty", {}).ok());
        return Result::Done();
      });
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  (*worker)->Stop();
  EXPECT_EQ((*worker)->counts().lost, 1);
  EXPECT_EQ((*worker)->counts().done, 1);
  EXPECT_EQ(View(hanged).state, TaskState::kFailed);
  EXPECT_EQ(View(hanged).last_error->type, "HANGED");
}

TEST_F(WorkerOnBroker, WhatAHandlerReportsIsSeenWhileItRuns) {
  const std::string id = Put("next", {}).task_id;
  std::promise<void> seen;
  auto worker = Worker::Start(
      client(), {.queues = {{.name = "next"}}, .lease_duration = absl::Seconds(1)},
      [&](const LeasedTask&, Attempt& attempt) {
        attempt.Report({.fraction = 0.5, .message = "half"});
        seen.get_future().wait();
        return Result::Done();
      });
  ASSERT_TRUE(worker.ok()) << worker.status();
  const absl::Time until = absl::Now() + absl::Minutes(1);
  while (!View(id).progress && absl::Now() < until) {
  }
  EXPECT_EQ(View(id).progress.value_or(TaskProgress()).message, "half");
  seen.set_value();
  (*worker)->Stop();
  EXPECT_EQ((*worker)->counts().lost, 0);
}

TEST_F(WorkerOnBroker, AWorkerThatStoppedHasNoSession) {
  Put("line", {});
  Run("a", 1, [](const LeasedTask&) { return Result::Done(); });
  EXPECT_EQ(database_.Run("SELECT count(*) FROM skiplane.worker_session WHERE state = 1"), "0");
}

TEST_F(WorkerOnBroker, ARefusedAckIsAFailedAttemptAndTakesNobodyWithIt) {
  std::vector<std::string> ids;
  for (const std::string next : {"b", "none", "c"}) {
    ids.push_back(Put("line", {.payload = next}).task_id);
  }
  Run("a", 3, [](const LeasedTask& task) {
    return Result::Done("", {.next_stage = task.payload});
  });
  EXPECT_EQ(counts_.done, 2);
  EXPECT_EQ(counts_.retried, 1);
  EXPECT_EQ(View(ids[0]).stage, "b");
  EXPECT_EQ(View(ids[2]).stage, "c");
  const Task refused = View(ids[1]);
  EXPECT_EQ(refused.stage, "a");
  EXPECT_EQ(refused.state, TaskState::kScheduled);
  ASSERT_TRUE(refused.last_error.has_value());
  EXPECT_EQ(refused.last_error->type, "INVALID_FIELD");
}

}  // namespace
}  // namespace skiplane
