// Stop: what is handed back, what may still end, and what is not left behind.
#include "tests/client/worker_fixture.h"

namespace skiplane {
namespace {

TEST_F(WorkerTest, StopReleasesWhatNoHandlerHasBegun) {
  Gate gate;
  for (const std::string id : {"a", "b", "c"}) broker_.AddTask(id);
  const auto worker = Started(Through(gate), {.concurrency = 1, .prefetch = 2});
  gate.WaitForArrivals(1);
  std::thread stopping([&worker] { worker->Stop(); });
  EXPECT_TRUE(IsNacked("token-b"));
  EXPECT_TRUE(IsNacked("token-c"));
  gate.Open();
  stopping.join();
  EXPECT_EQ(broker_.nacked["token-b"].disposition(), v1::NACK_DISPOSITION_RELEASE);
  EXPECT_EQ(broker_.nacked["token-c"].disposition(), v1::NACK_DISPOSITION_RELEASE);
  EXPECT_EQ(broker_.acked.count("token-a"), 1u) << "it ended within the grace time";
  EXPECT_EQ(worker->counts().released, 2);
  EXPECT_EQ(worker->counts().done, 1);
}

TEST_F(WorkerTest, AfterTheGraceTimeARunningTaskIsHandedBackWhenItsHandlerReturns) {
  Gate gate;
  broker_.AddTask("a");
  const auto worker = Started(
      [&](const LeasedTask&, Attempt& attempt) {
        gate.Pass();
        WaitForStop(attempt.stop_token());
        EXPECT_TRUE(broker_.Get<bool>([this] { return broker_.nacked.empty(); }))
            << "another worker would begin it while this one still runs";
        return Result::Retry({.type = "cut short"});
      },
      {.stop_grace = absl::ZeroDuration()});
  gate.WaitForArrivals(1);
  gate.Open();
  worker->Stop();
  EXPECT_EQ(broker_.nacked.at("token-a").disposition(), v1::NACK_DISPOSITION_RELEASE);
  EXPECT_TRUE(broker_.acked.empty());
  EXPECT_EQ(worker->counts().released, 1);
}

TEST_F(WorkerTest, WhatIsDoneAfterTheGraceTimeIsDone) {
  Gate gate;
  broker_.AddTask("a");
  const auto worker = Started(
      [&gate](const LeasedTask&, Attempt& attempt) {
        gate.Pass();
        WaitForStop(attempt.stop_token());
        return Result::Done();
      },
      {.stop_grace = absl::ZeroDuration()});
  gate.WaitForArrivals(1);
  gate.Open();
  worker->Stop();
  EXPECT_EQ(broker_.acked.count("token-a"), 1u);
  EXPECT_TRUE(broker_.nacked.empty());
}

TEST_F(WorkerTest, TheGraceTimeCanBeEndedWhileStopWaits) {
  Gate gate;
  for (const std::string id : {"a", "b"}) broker_.AddTask(id);
  const auto worker = Started(
      [&gate](const LeasedTask&, Attempt& attempt) {
        gate.Pass();
        WaitForStop(attempt.stop_token());
        return Result::Retry({.type = "cut short"});
      },
      {.prefetch = 1, .stop_grace = absl::Hours(1)});
  gate.WaitForArrivals(1);
  gate.Open();
  std::thread stopping([&worker] { worker->Stop(); });
  EXPECT_TRUE(IsNacked("token-b")) << "it is stopping";
  worker->EndGrace();
  stopping.join();
  EXPECT_EQ(broker_.nacked.at("token-a").disposition(), v1::NACK_DISPOSITION_RELEASE);
}

TEST_F(WorkerTest, StopEndsAParkedLease) {
  const auto worker = Started([](const LeasedTask&, Attempt&) { return Result::Done(); },
                              {.wait = absl::Seconds(60)});
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.parked == 1; }));
  worker->Stop();
  EXPECT_TRUE(broker_.WaitUntil([this] { return broker_.parked == 0; }));
}

TEST_F(WorkerTest, WhatACutOffLeaseHadLeasedIsHandedBack) {
  const auto worker = Started([](const LeasedTask&, Attempt&) { return Result::Done(); });
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.parked == 1; }));
  broker_.LeaveTaskForRepeat("orphan");
  worker->Stop();
  ASSERT_EQ(broker_.nacked.count("token-orphan"), 1u);
  EXPECT_EQ(broker_.nacked["token-orphan"].disposition(), v1::NACK_DISPOSITION_RELEASE);
  ASSERT_EQ(broker_.leases.size(), 2u);
  EXPECT_EQ(broker_.leases[0].request_id(), broker_.leases[1].request_id());
}

TEST_F(WorkerTest, StopComesBackThoughTheBrokerIsGone) {
  Gate gate;
  broker_.AddTask("a");
  const auto worker = Started(Through(gate));
  gate.WaitForArrivals(1);
  broker_.Shutdown();
  gate.Open();
  worker->Stop();
  EXPECT_EQ(worker->counts().done, 0);
}

TEST_F(WorkerTest, StopEndsTheSessionWhenAllElseIsDone) {
  Gate gate;
  for (const std::string id : {"a", "b"}) broker_.AddTask(id);
  const auto worker = Started(Through(gate), {.concurrency = 1, .prefetch = 1});
  gate.WaitForArrivals(1);
  std::thread stopping([&worker] { worker->Stop(); });
  EXPECT_TRUE(IsNacked("token-b")) << "it is stopping";
  gate.Open();
  stopping.join();
  EXPECT_EQ(broker_.acked.count("token-a"), 1u);
  ASSERT_FALSE(broker_.heartbeats.empty());
  EXPECT_EQ(broker_.calls.back(), "Heartbeat");
  EXPECT_TRUE(broker_.heartbeats.back().end_session());
  EXPECT_EQ(broker_.heartbeats.back().worker_id(), broker_.leases[0].worker_id());
}

TEST_F(WorkerTest, StoppingTwiceIsStoppingOnce) {
  const auto worker = Started([](const LeasedTask&, Attempt&) { return Result::Done(); });
  worker->Stop();
  worker->Stop();
}

}  // namespace
}  // namespace skiplane
