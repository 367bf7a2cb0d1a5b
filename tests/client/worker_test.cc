// A running worker: what it makes of results, how it keeps its leases, how it bears a broker that
// fails.
#include "skiplane/worker.h"

#include <stdexcept>

#include "tests/client/worker_fixture.h"
#include "tests/support/machine_clock.h"

namespace skiplane {
namespace {

const grpc::Status kUnavailable(grpc::UNAVAILABLE, "away");
// The least that is allowed: a heartbeat each third of a second.
constexpr absl::Duration kShortLease = absl::Seconds(1);

Result Done(const LeasedTask&, Attempt&) { return Result::Done(); }

TEST_F(WorkerTest, ADoneTaskIsAckedAndTheNextOneIsLeased) {
  const auto worker = Started([](const LeasedTask& task, Attempt&) {
    return task.payload == "payload-" + task.task_id ? Result::Done() : Result::Release();
  });
  broker_.AddTask("a");
  EXPECT_TRUE(IsAcked("token-a"));
  broker_.AddTask("b");
  EXPECT_TRUE(IsAcked("token-b"));
  worker->Stop();
  EXPECT_EQ(worker->counts().done, 2);
}

TEST_F(WorkerTest, AnIdleWorkerAsksOftenEnoughForItsSessionToLive) {
  const auto worker = Started(Done, {.lease_duration = kShortLease});
  ASSERT_TRUE(broker_.WaitUntil([this] { return !broker_.leases.empty(); }));
  const auto wait = broker_.Get<int64_t>([this] { return broker_.leases[0].wait().nanos(); });
  EXPECT_EQ(absl::Nanoseconds(wait), kShortLease / 2);
}

TEST_F(WorkerTest, EachResultBecomesItsNack) {
  const auto worker = Started([](const LeasedTask& task, Attempt&) {
    if (task.task_id == "later") return Result::Retry({.type = "T", .text = "x"}, absl::Seconds(9));
    if (task.task_id == "retry") return Result::Retry({.type = "T", .fingerprint = "f"});
    if (task.task_id == "fail") return Result::Fail({.type = "F"});
    if (task.task_id == "throw") throw std::runtime_error("boom");
    return Result::Release();
  });
  for (const std::string id : {"later", "retry", "fail", "throw", "release"}) {
    broker_.AddTask(id);
    ASSERT_TRUE(IsNacked("token-" + id));
  }
  worker->Stop();
  const auto& nacked = broker_.nacked;
  EXPECT_EQ(nacked.at("token-later").disposition(), v1::NACK_DISPOSITION_RETRY);
  EXPECT_EQ(nacked.at("token-later").retry_delay().seconds(), 9);
  EXPECT_EQ(nacked.at("token-later").error().text(), "x");
  EXPECT_FALSE(nacked.at("token-retry").has_retry_delay());
  EXPECT_EQ(nacked.at("token-retry").error().fingerprint(), "f");
  EXPECT_EQ(nacked.at("token-fail").disposition(), v1::NACK_DISPOSITION_FAIL);
  EXPECT_EQ(nacked.at("token-throw").disposition(), v1::NACK_DISPOSITION_RETRY);
  EXPECT_EQ(nacked.at("token-throw").error().text(), "boom");
  EXPECT_EQ(nacked.at("token-release").disposition(), v1::NACK_DISPOSITION_RELEASE);
  EXPECT_EQ(worker->counts().retried, 3);
  EXPECT_EQ(worker->counts().failed, 1);
  EXPECT_EQ(worker->counts().released, 1);
}

TEST_F(WorkerTest, TheOutputOfAnAttemptGoesWithItsAckAndCallsStayBelowTheLimit) {
  // Together far more than a request may hold.
  const auto worker = Started(
      [](const LeasedTask&, Attempt&) { return Result::Done(std::string(2 << 20, 'x')); },
      {.concurrency = 8});
  broker_.HoldSettlements(true);
  for (int i = 0; i < 8; ++i) broker_.AddTask(std::to_string(i));
  WaitForFirstCall();
  broker_.HoldSettlements(false);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(IsAcked("token-" + std::to_string(i)));
  worker->Stop();
  for (const v1::SettleRequest& request : broker_.settles) {
    EXPECT_LT(request.ByteSizeLong(), size_t{4} << 20);
    EXPECT_EQ(request.items(0).ack().result().size(), size_t{1} << 20);
  }
}

TEST_F(WorkerTest, FollowUpsOfManyAcksStayBelowTheLimitsOfACall) {
  const auto worker = Started(
      [](const LeasedTask&, Attempt&) {
        const NewTask one{.payload = std::string(10'000, 'x'), .queue = "next"};
        return Result::Done("", {.follow_ups = std::vector<NewTask>(100, one)});
      },
      {.concurrency = 16});
  broker_.HoldSettlements(true);
  for (int i = 0; i < 16; ++i) broker_.AddTask(std::to_string(i));
  WaitForFirstCall();
  broker_.HoldSettlements(false);
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(IsAcked("token-" + std::to_string(i)));
  worker->Stop();
  for (const v1::SettleRequest& request : broker_.settles) {
    EXPECT_LT(request.ByteSizeLong(), size_t{4} << 20);
    EXPECT_LE(request.items_size(), 10);
  }
}

TEST_F(WorkerTest, AcksThatAreRefusedTogetherAreSentOneByOne) {
  Gate gate;
  std::unique_ptr<Worker> worker;
  ASSERT_NO_FATAL_FAILURE(GatherThree(gate, &worker));
  // That of three, then that of the first of them.
  broker_.FailNext("Settle", 2, grpc::Status(grpc::INVALID_ARGUMENT, "no"));
  broker_.HoldSettlements(false);
  ASSERT_TRUE(IsNacked("token-1"));
  ASSERT_TRUE(IsAcked("token-3"));
  gate.Open();
  worker->Stop();
  EXPECT_EQ(broker_.nacked.at("token-1").disposition(), v1::NACK_DISPOSITION_RETRY);
  EXPECT_EQ(broker_.nacked.at("token-1").error().text(), "no");
  EXPECT_EQ(broker_.acked.count("token-2"), 1u);
  EXPECT_EQ(broker_.settles[1].items_size(), 3);
  EXPECT_EQ(broker_.settles[2].items_size(), 1);
}

TEST_F(WorkerTest, AnItemThatIsRefusedIsNackedAndTakesNobodyWithIt) {
  Gate gate;
  std::unique_ptr<Worker> worker;
  ASSERT_NO_FATAL_FAILURE(GatherThree(gate, &worker));
  broker_.RefuseItem("token-2", "next_stage: is not a stage");
  broker_.HoldSettlements(false);
  ASSERT_TRUE(IsNacked("token-2"));
  gate.Open();
  worker->Stop();
  const v1::NackItem& item = broker_.nacked.at("token-2");
  EXPECT_EQ(item.disposition(), v1::NACK_DISPOSITION_RETRY);
  EXPECT_EQ(item.error().type(), "INVALID_FIELD");
  EXPECT_EQ(item.error().text(), "next_stage: is not a stage");
  EXPECT_EQ(broker_.acked, (std::set<std::string>{"token-first", "token-1", "token-3",
                                                  "token-last"}));
  EXPECT_EQ(broker_.settles.size(), 4u) << "nothing is acked twice";
  EXPECT_EQ(worker->counts().retried, 1);
}

// An operator mends it; the work is done and must not be done again.
TEST_F(WorkerTest, AcksThatTheDatabaseRefusesAreKept) {
  const auto worker = Started([](const LeasedTask&, Attempt&) { return Result::Done(); });
  broker_.FailNext("Settle", 1, grpc::Status(grpc::FAILED_PRECONDITION, "no right to do this"));
  broker_.AddTask("a");
  ASSERT_TRUE(IsAcked("token-a"));
  worker->Stop();
  EXPECT_EQ(broker_.settles.size(), 2u);
  EXPECT_TRUE(broker_.nacked.empty());
}

TEST_F(WorkerTest, NacksThatAreRefusedTogetherAreSentOneByOneAndNotForEver) {
  Gate gate;
  const auto worker = Started(
      [&gate](const LeasedTask& task, Attempt&) {
        if (task.task_id == "last") gate.Pass();
        return Result::Retry({.type = "Oops"});
      },
      {.concurrency = 1, .prefetch = 4});
  broker_.HoldSettlements(true);
  broker_.AddTask("first");
  ASSERT_NO_FATAL_FAILURE(WaitForFirstCall());
  for (const std::string id : {"1", "2", "3", "last"}) broker_.AddTask(id);
  gate.WaitForArrivals(1);
  // That of three, then that of the first of them.
  broker_.FailNext("Settle", 2, grpc::Status(grpc::INVALID_ARGUMENT, "no"));
  broker_.HoldSettlements(false);
  ASSERT_TRUE(IsNacked("token-3"));
  gate.Open();
  worker->Stop();
  EXPECT_EQ(broker_.settles[1].items_size(), 3);
  EXPECT_EQ(broker_.nacked.count("token-1"), 0u);
  EXPECT_EQ(broker_.nacked.count("token-2"), 1u);
  EXPECT_EQ(worker->counts().lost, 1);
}

TEST_F(WorkerTest, LongErrorsOfManyAttemptsStayBelowTheLimitOfACall) {
  constexpr int kTasks = 128;
  const auto worker = Started(
      [](const LeasedTask&, Attempt&) {
        return Result::Retry({.type = "Oops", .text = std::string(100'000, 'x')});
      },
      {.concurrency = kTasks});
  broker_.HoldSettlements(true);
  for (int i = 0; i < kTasks; ++i) broker_.AddTask(std::to_string(i));
  ASSERT_NO_FATAL_FAILURE(WaitForFirstCall());
  broker_.HoldSettlements(false);
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.nacked.size() == kTasks; }));
  worker->Stop();
  for (const v1::SettleRequest& request : broker_.settles) {
    EXPECT_LT(request.ByteSizeLong(), size_t{4} << 20);
  }
}

TEST_F(WorkerTest, AnErrorBeyondTheBoundsIsCutInsteadOfBeingRefused) {
  const auto worker = Started([](const LeasedTask&, Attempt&) {
    return Result::Retry({.type = std::string(300, '\xff'), .text = std::string(1 << 20, 'x')},
                         absl::Hours(48));
  });
  broker_.AddTask("a");
  ASSERT_TRUE(IsNacked("token-a"));
  worker->Stop();
  const v1::NackItem& item = broker_.nacked.at("token-a");
  EXPECT_EQ(item.error().type(), std::string(256, '?'));
  EXPECT_EQ(item.error().text().size(), size_t{64 << 10});
  EXPECT_EQ(item.retry_delay().seconds(), 24 * 3600);
}

TEST_F(WorkerTest, ResultsThatGatherDuringACallGoInOne) {
  Gate gate;
  std::unique_ptr<Worker> worker;
  ASSERT_NO_FATAL_FAILURE(GatherThree(gate, &worker));
  broker_.HoldSettlements(false);
  ASSERT_TRUE(IsAcked("token-3"));
  gate.Open();
  worker->Stop();
  EXPECT_EQ(broker_.settles[0].items_size(), 1);
  EXPECT_EQ(broker_.settles[1].items_size(), 3);
  EXPECT_EQ(broker_.acked.size(), 5u);
}

TEST_F(WorkerTest, AHeldLeaseIsRenewedWhileItsHandlerRuns) {
  Gate gate;
  const auto worker = Started(
      [&gate](const LeasedTask&, Attempt& attempt) {
        attempt.Report({.fraction = 0.5, .message = "half"});
        gate.Pass();
        return Result::Done();
      },
      {.lease_duration = kShortLease});
  broker_.AddTask("a");
  gate.WaitForArrivals(1);
  // One more after that which told it.
  EXPECT_TRUE(broker_.WaitUntil([this] {
    const size_t count = broker_.heartbeats.size();
    return count >= 2 && broker_.heartbeats[count - 2].leases(0).has_progress();
  }));
  gate.Open();
  EXPECT_TRUE(IsAcked("token-a"));
  worker->Stop();
  const v1::HeartbeatRequest& heartbeat = broker_.heartbeats[0];
  EXPECT_EQ(heartbeat.worker_id(), broker_.leases[0].worker_id());
  EXPECT_EQ(heartbeat.worker_id().size(), 32u);
  EXPECT_EQ(heartbeat.lease_duration().seconds(), 1);
  ASSERT_EQ(heartbeat.leases_size(), 1);
  EXPECT_EQ(heartbeat.leases(0).lease_token(), "token-a");
  // The first may come between the lease and its handler's first word.
  std::vector<std::string> told;
  for (const v1::HeartbeatRequest& each : broker_.heartbeats) {
    for (const v1::HeldLease& lease : each.leases()) {
      if (lease.has_progress()) told.push_back(lease.progress().message());
    }
  }
  EXPECT_EQ(told, std::vector<std::string>{"half"}) << "told once";
}

TEST_F(WorkerTest, LeasesAreRenewedThoughTheMachinesClockIsSetBack) {
  broker_.OnHeartbeat([] { test::SetMachineClockBack(absl::Hours(1)); });
  Gate gate;
  const auto worker = Started(Through(gate), {.lease_duration = kShortLease});
  broker_.AddTask("a");
  EXPECT_TRUE(broker_.WaitUntil([this] { return broker_.heartbeats.size() >= 2; }));
  gate.Open();
  worker->Stop();
  test::SetMachineClockBack(absl::ZeroDuration());
}

TEST_F(WorkerTest, ALostLeaseStopsItsHandlerAndDropsItsResult) {
  broker_.SetState("token-lost", v1::LEASE_STATE_LOST);
  const auto worker = Started(
      [](const LeasedTask& task, Attempt& attempt) {
        if (task.task_id == "lost") WaitForStop(attempt.stop_token());
        return Result::Done();
      },
      {.lease_duration = kShortLease});
  broker_.AddTask("lost");
  broker_.AddTask("next");
  EXPECT_TRUE(IsAcked("token-next"));
  worker->Stop();
  EXPECT_EQ(broker_.acked.count("token-lost"), 0u);
  EXPECT_EQ(broker_.nacked.count("token-lost"), 0u);
  EXPECT_EQ(worker->counts().lost, 1);
}

TEST_F(WorkerTest, ALostSessionLosesEveryLeaseAndTheNextLeaseMakesANewOne) {
  Gate gate;
  const auto worker = Started(
      [&gate](const LeasedTask& task, Attempt& attempt) {
        if (task.task_id == "next") return Result::Done();
        std::thread passing([&gate] { gate.Pass(); });
        WaitForStop(attempt.stop_token());
        passing.join();
        return Result::Done();
      },
      {.concurrency = 2, .lease_duration = kShortLease});
  broker_.AddTask("a");
  broker_.AddTask("b");
  gate.WaitForArrivals(2);
  gate.Open();
  broker_.LoseSession();
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.parked == 1; }));
  broker_.AddTask("next");
  EXPECT_TRUE(IsAcked("token-next"));
  worker->Stop();
  EXPECT_EQ(broker_.acked.size(), 1u);
  EXPECT_EQ(worker->counts().lost, 2);
}

TEST_F(WorkerTest, ACancelledTaskIsAskedToStopAndItsResultCounts) {
  broker_.SetState("token-a", v1::LEASE_STATE_CANCEL_REQUESTED);
  const auto worker = Started(
      [](const LeasedTask&, Attempt& attempt) {
        WaitForStop(attempt.stop_token());
        return Result::Fail({.type = "Cancelled"});
      },
      {.lease_duration = kShortLease});
  broker_.AddTask("a");
  EXPECT_TRUE(IsNacked("token-a"));
  worker->Stop();
  EXPECT_EQ(broker_.nacked["token-a"].error().type(), "Cancelled");
}

TEST_F(WorkerTest, AResultIsKeptUntilTheBrokerIsBack) {
  broker_.FailNext("Settle", 6, kUnavailable);  // more than one call tries
  const auto worker = Started(Done);
  broker_.AddTask("a");
  EXPECT_TRUE(IsAcked("token-a"));
  worker->Stop();
  EXPECT_EQ(broker_.settles.size(), 7u);
  EXPECT_EQ(worker->counts().done, 1);
}

TEST_F(WorkerTest, ALeaseWithoutAnswerIsRepeatedUnderItsId) {
  broker_.FailNext("Lease", 6, kUnavailable);  // more than one call tries
  broker_.AddTask("a");
  broker_.AddTask("b");
  const auto worker = Started(Done);
  EXPECT_TRUE(IsAcked("token-b"));
  worker->Stop();
  for (size_t i = 1; i < 7; ++i) {
    EXPECT_EQ(broker_.leases[i].request_id(), broker_.leases[0].request_id());
  }
  EXPECT_NE(broker_.leases[7].request_id(), broker_.leases[0].request_id());
}

TEST_F(WorkerTest, FailedCallsAreTold) {
  broker_.FailNext("Lease", 1, {grpc::NOT_FOUND, "no queue"});
  std::mutex mutex;
  std::vector<absl::StatusCode> codes;
  const auto worker = Started(Done, {.on_error = [&](const absl::Status& status) {
    const std::lock_guard<std::mutex> lock(mutex);
    codes.push_back(status.code());
  }});
  broker_.AddTask("a");
  EXPECT_TRUE(IsAcked("token-a"));
  worker->Stop();
  EXPECT_EQ(codes, std::vector{absl::StatusCode::kNotFound});
}

TEST_F(WorkerTest, ItLeasesWhatItsThreadsAndItsPrefetchCanHold) {
  Gate gate;
  const auto worker = Started(Through(gate), {.concurrency = 2, .prefetch = 3, .name = "me"});
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.parked == 1; }));
  broker_.AddTask("a");
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.leases.size() == 2; }));
  gate.WaitForArrivals(1);
  gate.Open();
  worker->Stop();
  EXPECT_EQ(broker_.leases[0].max_tasks(), 5);
  EXPECT_EQ(broker_.leases[0].worker_name(), "me");
  EXPECT_EQ(broker_.leases[1].max_tasks(), 4);
}

TEST(WorkerOptionsTest, OptionsOutOfRangeAreRefused) {
  const auto client = Client::Connect();
  const auto code = [&client](WorkerOptions options, Handler handler = Done) {
    return Worker::Start(*client, options, handler).status().code();
  };
  constexpr auto kRefused = absl::StatusCode::kInvalidArgument;
  const std::vector<LeaseQueue> queues = {{.name = "q"}};
  EXPECT_EQ(code({}), kRefused);
  EXPECT_EQ(code({.queues = queues}, nullptr), kRefused);
  EXPECT_EQ(code({.queues = queues, .concurrency = 0}), kRefused);
  EXPECT_EQ(code({.queues = queues, .concurrency = 1000, .prefetch = 1}), kRefused);
  EXPECT_EQ(code({.queues = queues, .prefetch = -1}), kRefused);
  EXPECT_EQ(code({.queues = queues, .lease_duration = absl::Milliseconds(999)}), kRefused);
  EXPECT_EQ(code({.queues = queues, .wait = absl::Seconds(61)}), kRefused);
  EXPECT_EQ(code({.queues = queues, .stop_grace = absl::Seconds(-1)}), kRefused);
}

}  // namespace
}  // namespace skiplane
