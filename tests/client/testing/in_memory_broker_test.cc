// An InMemoryBroker: what goes in, in which order it runs, and when.
#include <thread>

#include "skiplane/worker.h"
#include "tests/client/testing/fixture.h"

namespace skiplane {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

using InMemoryBrokerTest = InMemoryTest;

TEST_F(InMemoryBrokerTest, TheMoreUrgentRunsFirstThenTheOlder) {
  const auto worker = Noting();
  Put({.payload = "a"});
  Put({.payload = "b", .priority = -1});
  Put({.payload = "c"});
  EXPECT_EQ(broker_.RunUntilIdle(), 3);
  EXPECT_THAT(ran_, ElementsAre("b", "a", "c"));
}

TEST_F(InMemoryBrokerTest, ADelayedTaskRunsWhenItIsDueAndNoEarlier) {
  const auto worker = Noting();
  Put({.payload = "late", .delay = absl::Hours(2)});
  Put({.payload = "soon", .schedule_time = broker_.Now() + absl::Hours(1)});
  EXPECT_EQ(broker_.RunUntilIdle(), 0);
  const absl::Time begin = broker_.Now();
  EXPECT_EQ(broker_.RunFor(absl::Minutes(90)), 1);
  EXPECT_EQ(broker_.Now(), begin + absl::Minutes(90));
  EXPECT_EQ(broker_.RunFor(absl::Minutes(30)), 1);
  EXPECT_THAT(ran_, ElementsAre("soon", "late"));
}

TEST_F(InMemoryBrokerTest, WhatAHandlerEnqueuesRunsInTheSameCall) {
  const auto worker = Started([this](const LeasedTask& task, Attempt&) {
    ran_.push_back(task.payload);
    if (task.payload.size() < 3) Put({.payload = task.payload + "x"});
    EXPECT_EQ(broker_.RunUntilIdle(), 0) << "not from a handler";
    return Result::Done();
  });
  Put({.payload = "x"});
  EXPECT_EQ(broker_.RunUntilIdle(), 3);
  EXPECT_THAT(ran_, ElementsAre("x", "xx", "xxx"));
}

TEST_F(InMemoryBrokerTest, WorkersTakeTurnsAndOnlyTheirQueues) {
  std::vector<std::string> order;
  const auto noting = [&order](const std::string& name) {
    return [&order, name](const LeasedTask& task, Attempt&) {
      order.push_back(name + task.queue);
      return Result::Done();
    };
  };
  const auto first = Started(noting("1"), {.queues = {{.name = "q"}}});
  const auto second = Started(noting("2"), {.queues = {{.name = "r"}, {.name = "q"}}});
  for (int i = 0; i < 3; ++i) Put({});
  ASSERT_TRUE(broker_.Enqueue("r", {}).ok());
  broker_.RunUntilIdle();
  EXPECT_THAT(order, ElementsAre("1q", "2r", "1q", "2q"));
  first->Stop();
  Put({});
  broker_.RunUntilIdle();
  EXPECT_EQ(order.back(), "2q");
}

TEST_F(InMemoryBrokerTest, AWorkerEndsAfterItsNumberOfTasksAndABurstWhenNothingIsReady) {
  for (int i = 0; i < 4; ++i) Put({});
  const auto two = Noting({.max_tasks = 2});
  EXPECT_TRUE(two->WaitForEnd().ok());
  EXPECT_THAT(ran_, SizeIs(2));
  const auto burst = Noting({.burst = true});
  EXPECT_TRUE(burst->WaitForEnd().ok());
  EXPECT_THAT(ran_, SizeIs(4));
  const auto endless = Noting();
  EXPECT_TRUE(absl::IsFailedPrecondition(endless->WaitForEnd()));
  endless->Stop();
  EXPECT_TRUE(absl::IsCancelled(endless->WaitForEnd()));
}

TEST_F(InMemoryBrokerTest, EndsAreTold) {
  std::vector<AttemptEnd> ends;
  const auto worker = Started(AtOnce, {.on_attempt_end = [&](const LeasedTask&, AttemptEnd end) {
    ends.push_back(end);
  }});
  Put({});
  broker_.RunUntilIdle();
  EXPECT_THAT(ends, ElementsAre(AttemptEnd::kDone));
}

TEST_F(InMemoryBrokerTest, OptionsAreCheckedAsThoseOfAWorker) {
  EXPECT_TRUE(absl::IsInvalidArgument(broker_.StartWorker({}, AtOnce).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      broker_.StartWorker({.queues = {{.name = "q"}}}, nullptr).status()));
}

TEST_F(InMemoryBrokerTest, ACallIsAllOrNothing) {
  const auto refused = broker_.Enqueue({.queue = "q", .tasks = {{}, {.priority = 40000}}});
  EXPECT_EQ(ErrorReason(refused.status()), "INVALID_FIELD");
  EXPECT_EQ(ErrorField(refused.status()), "tasks[1].priority");
  EXPECT_TRUE(broker_.Tasks("q").empty());
}

TEST_F(InMemoryBrokerTest, ARequestIdMakesOneTask) {
  const EnqueueCall call{.queue = "q", .tasks = {{.payload = "a"}}, .request_id = "r"};
  const auto first = broker_.Enqueue(call);
  const auto repeat = broker_.Enqueue(call);
  EXPECT_EQ(first->front().task_id, repeat->front().task_id);
  EXPECT_THAT(broker_.Tasks("q"), SizeIs(1));
  const auto other = broker_.Enqueue({.queue = "q", .tasks = {{}}, .request_id = "r"});
  EXPECT_EQ(ErrorReason(other.status()), "REQUEST_ID_REUSED");
}

TEST_F(InMemoryBrokerTest, EnqueuesFailAsTheTestSays) {
  broker_.FailEnqueues(2, absl::UnavailableError("away"));
  EXPECT_TRUE(absl::IsUnavailable(broker_.Enqueue("q", {}).status()));
  absl::Status told;
  broker_.EnqueueAsync({.queue = "q", .tasks = {{}}},
                       [&told](auto results) { told = results.status(); });
  EXPECT_TRUE(absl::IsUnavailable(told));
  EXPECT_TRUE(broker_.Enqueue("q", {}).ok());
}

TEST_F(InMemoryBrokerTest, AMissingQueueIsRefusedIfSoAsked) {
  InMemoryBroker strict({.creates_queues = false});
  EXPECT_EQ(ErrorReason(strict.Enqueue("q", {}).status()), "QUEUE_NOT_FOUND");
  ASSERT_TRUE(strict.CreateQueue("q").ok());
  EXPECT_TRUE(strict.Enqueue("q", {}).ok());
}

TEST_F(InMemoryBrokerTest, APauseStopsWhatItSays) {
  const auto worker = Noting();
  Put({});
  ASSERT_TRUE(broker_.PauseQueue("q", PauseMode::kLease).ok());
  EXPECT_EQ(broker_.RunUntilIdle(), 0);
  ASSERT_TRUE(broker_.PauseQueue("q", PauseMode::kEnqueue, "full").ok());
  EXPECT_EQ(ErrorReason(broker_.Enqueue("q", {}).status()), "QUEUE_PAUSED");
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  EXPECT_EQ(broker_.GetQueue("q")->pause_reason, "full");
  ASSERT_TRUE(broker_.ResumeQueue("q").ok());
  EXPECT_TRUE(broker_.Enqueue("q", {}).ok());
}

TEST_F(InMemoryBrokerTest, AFullQueueRefuses) {
  ASSERT_TRUE(broker_.CreateQueue("q", {.max_depth = 1}).ok());
  Put({});
  const auto refused = broker_.Enqueue("q", {});
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status()));
  EXPECT_EQ(ErrorReason(refused.status()), "QUEUE_FULL");
}

TEST_F(InMemoryBrokerTest, GetTaskWithAWaitRunsWhatIsReady) {
  const auto worker = Started(AtOnce);
  Put({.key = "k"});
  EXPECT_EQ(broker_.GetTask({.queue = "q", .key = "k"})->state, TaskState::kReady);
  EXPECT_EQ(broker_.GetTask({.queue = "q", .key = "k", .wait = absl::Seconds(1)})->state,
            TaskState::kSucceeded);
  EXPECT_EQ(ErrorReason(broker_.GetTask("none").status()), "TASK_NOT_FOUND");
}

TEST_F(InMemoryBrokerTest, ALeaseEndsUnlessAHeartbeatRenewsIt) {
  const std::string id = Put({});
  const LeaseCall call{.queues = {{.name = "q"}}, .worker_id = "w",
                       .lease_duration = absl::Seconds(30)};
  const std::string token = broker_.Lease(call)->tasks.at(0).lease_token;
  broker_.Advance(absl::Seconds(20));
  HeartbeatCall beat{.worker_id = "w", .leases = {{.lease_token = token}}};
  EXPECT_THAT(broker_.Heartbeat(beat)->states, ElementsAre(LeaseState::kHeld));
  broker_.Advance(absl::Seconds(20));
  EXPECT_EQ(Seen(id).state, TaskState::kLeased);
  broker_.Advance(absl::Seconds(10));
  EXPECT_THAT(broker_.Heartbeat(beat)->states, ElementsAre(LeaseState::kLost));
  EXPECT_EQ(Seen(id).state, TaskState::kReady);
  EXPECT_EQ(broker_.Ack({{.lease_token = token}})->at(0).outcome, SettleOutcome::kLeaseLost);
}

TEST_F(InMemoryBrokerTest, TheEndOfASessionReleases) {
  const std::string id = Put({});
  ASSERT_THAT(broker_.Lease({.queues = {{.name = "q"}}, .worker_id = "w"})->tasks, SizeIs(1));
  EXPECT_FALSE(broker_.Heartbeat({.worker_id = "w", .end_session = true})->session_alive);
  EXPECT_EQ(Seen(id).state, TaskState::kReady);
  EXPECT_EQ(Seen(id).attempt_count, 0);
}

TEST_F(InMemoryBrokerTest, ManyThreadsMayUseIt) {
  const auto worker = Started(AtOnce);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int j = 0; j < 50; ++j) Put({});
      broker_.RunUntilIdle();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(broker_.Tasks("q", TaskState::kSucceeded), SizeIs(200));
}

TEST(InMemoryBrokerLifeTest, AWorkerMayOutliveItsBroker) {
  auto broker = std::make_unique<InMemoryBroker>();
  const auto worker = broker->StartWorker({.queues = {{.name = "q"}}}, AtOnce);
  broker.reset();
  EXPECT_TRUE(absl::IsCancelled((*worker)->WaitForEnd()));
}

}  // namespace
}  // namespace skiplane
