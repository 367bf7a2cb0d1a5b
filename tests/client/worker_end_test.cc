// Workers that come to an end by themselves, and what they tell of their attempts.
#include <array>
#include <map>
#include <thread>

#include "tests/client/worker_fixture.h"

namespace skiplane {
namespace {

using WorkerEndTest = WorkerTest;

Result Succeed(const LeasedTask&, Attempt&) { return Result::Done(); }

TEST_F(WorkerEndTest, ABurstEndsWhenNothingIsReady) {
  for (const std::string id : {"a", "b", "c"}) broker_.AddTask(id);
  const auto worker = Started(Succeed, {.concurrency = 2, .burst = true});
  EXPECT_TRUE(worker->WaitForEnd().ok());
  EXPECT_EQ(worker->counts().done, 3);
  EXPECT_EQ(broker_.parked, 0) << "it does not wait for more";
}

TEST_F(WorkerEndTest, ABurstTakesTheOutputOfItsLastAttempt) {
  broker_.AddTask("a");
  const auto worker = Started(
      [this](const LeasedTask& task, Attempt&) {
        if (task.task_id == "a") broker_.AddTask("b");
        return Result::Done();
      },
      {.concurrency = 4, .burst = true});
  EXPECT_TRUE(worker->WaitForEnd().ok());
  EXPECT_EQ(worker->counts().done, 2);
}

TEST_F(WorkerEndTest, ABurstTakesWhatComesWhileAnAttemptRuns) {
  Gate gate;
  broker_.AddTask("a");
  const auto worker = Started(
      [&gate](const LeasedTask& task, Attempt&) {
        task.task_id == "a" ? gate.Pass() : gate.Open();
        return Result::Done();
      },
      {.concurrency = 2, .burst = true});
  gate.WaitForArrivals(1);
  broker_.AddTask("opens the gate");
  EXPECT_TRUE(worker->WaitForEnd().ok());
  EXPECT_EQ(worker->counts().done, 2);
}

TEST_F(WorkerEndTest, ABurstThatMayNotLeaseEndsWithTheRefusal) {
  broker_.FailNext("Lease", 1, grpc::Status(grpc::StatusCode::NOT_FOUND, "no such queue"));
  const auto worker = Started(Succeed, {.burst = true});
  EXPECT_TRUE(absl::IsNotFound(worker->WaitForEnd()));
}

TEST_F(WorkerEndTest, AWorkerEndsAfterItsNumberOfTasks) {
  for (const std::string id : {"a", "b", "c", "d"}) broker_.AddTask(id);
  const auto worker = Started(Succeed, {.concurrency = 2, .prefetch = 5, .max_tasks = 3});
  EXPECT_TRUE(worker->WaitForEnd().ok());
  EXPECT_EQ(worker->counts().done, 3);
  EXPECT_EQ(broker_.acked.count("token-d"), 0u);
}

TEST_F(WorkerEndTest, OneThatIsStoppedHasNotComeToItsEnd) {
  const auto worker = Started(Succeed, {.max_tasks = 3});
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.parked == 1; }));
  std::thread stopping([&worker] { worker->Stop(); });
  EXPECT_TRUE(absl::IsCancelled(worker->WaitForEnd()));
  stopping.join();
}

TEST_F(WorkerEndTest, EachAttemptIsToldWithWhatTheBrokerMadeOfIt) {
  broker_.SetNackState("token-cancelled", v1::TASK_STATE_CANCELLED);
  broker_.SetNackState("token-last", v1::TASK_STATE_FAILED);
  std::mutex mutex;
  std::map<std::string, AttemptEnd> told;
  for (const std::string id : {"good", "bad", "cancelled", "last"}) broker_.AddTask(id);
  const auto worker = Started(
      [](const LeasedTask& task, Attempt&) {
        return task.task_id == "good" ? Result::Done() : Result::Retry({.type = "E"});
      },
      {.burst = true, .on_attempt_end = [&](const LeasedTask& task, AttemptEnd end) {
         const std::lock_guard<std::mutex> lock(mutex);
         told[task.task_id] = end;
       }});
  EXPECT_TRUE(worker->WaitForEnd().ok());
  worker->Stop();
  EXPECT_EQ(told, (std::map<std::string, AttemptEnd>{{"good", AttemptEnd::kDone},
                                                     {"bad", AttemptEnd::kRetried},
                                                     {"cancelled", AttemptEnd::kCancelled},
                                                     {"last", AttemptEnd::kFailed}}));
  const WorkerCounts counts = worker->counts();
  EXPECT_EQ((std::array{counts.done, counts.retried, counts.cancelled, counts.failed}),
            (std::array<int64_t, 4>{1, 1, 1, 1}));
}

}  // namespace
}  // namespace skiplane
