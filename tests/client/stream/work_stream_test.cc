// A worker on a stream: what it says, what it makes of what it hears, and how it bears breaks.
#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "tests/client/stream/work_stream_fixture.h"

namespace skiplane {
namespace {

TEST_F(WorkStreamTest, ItSaysWhoItIsAndHowMuchItTakes) {
  const auto worker = Started(AtOnce, {.concurrency = 2, .prefetch = 3});
  ASSERT_TRUE(IsGreeted(1));
  const v1::WorkHello& hello = HelloOf(1);
  EXPECT_EQ(hello.worker_id().size(), 32u);
  EXPECT_EQ(hello.worker_name(), "me");
  EXPECT_EQ(hello.queues(0).name(), "q");
  EXPECT_EQ(hello.queues(0).weight(), 3);
  EXPECT_EQ(hello.lease_duration().seconds(), 30);
  EXPECT_EQ(hello.leases_size(), 0);
  EXPECT_EQ(CreditOn(1), 5);
}

TEST_F(WorkStreamTest, ATaskThatHasEndedIsSettledAndMakesRoomInOneMessage) {
  const auto worker = Started(AtOnce);
  ASSERT_TRUE(IsGreeted(1));
  for (const std::string id : {"a", "b", "c"}) {
    broker_.Push(id);
    ASSERT_TRUE(Settles(id));
  }
  worker->Stop();
  EXPECT_EQ(worker->counts().done, 3);
  EXPECT_EQ(CreditOn(1), 4);
  std::erase_if(broker_.work, [](const auto& message) {
    return message.request.withdraw_credit();  // of Stop()
  });
  ASSERT_EQ(broker_.work.size(), 4u) << "the hello, and one for each task";
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(broker_.work[i].request.credit(), 1);
  EXPECT_TRUE(broker_.settles.empty()) << "no call of its own";
  EXPECT_TRUE(broker_.leases.empty());
}

TEST_F(WorkStreamTest, ABrokenStreamIsFollowedByOneThatNamesWhatIsHeldAndSettlesWhatIsNot) {
  Gate gate;
  const auto worker = Started(
      [&gate](const LeasedTask& task, Attempt&) {
        if (task.task_id == "runs") gate.Pass();
        return Result::Done();
      },
      {.concurrency = 2});
  ASSERT_TRUE(IsGreeted(1));
  broker_.HoldResults(true);
  broker_.Push("runs");
  broker_.Push("done");
  gate.WaitForArrivals(1);
  ASSERT_TRUE(Settles("done"));
  broker_.HoldResults(false);
  broker_.EndWork({grpc::UNAVAILABLE, "away"});
  ASSERT_TRUE(Settles("done", 2));
  EXPECT_EQ(HelloOf(2).leases_size(), 2);
  EXPECT_EQ(HelloOf(2).worker_id(), HelloOf(1).worker_id());
  gate.Open();
  ASSERT_TRUE(Settles("runs", 2));
  worker->Stop();
  EXPECT_EQ(worker->counts().done, 2);
  EXPECT_EQ(worker->counts().lost, 0);
}

TEST_F(WorkStreamTest, WhatTheWelcomeSaysIsLostIsStoppedAndNotSettled) {
  std::atomic<bool> was_asked = false;
  Gate gate;
  const auto worker = Started(
      [&](const LeasedTask& task, Attempt& attempt) {
        if (task.task_id != "lost") return Result::Done();
        std::thread passing([&gate] { gate.Pass(); });
        WaitForStop(attempt.stop_token());
        was_asked = true;
        passing.join();
        return Result::Done();
      });
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("lost");
  gate.WaitForArrivals(1);
  gate.Open();
  broker_.SetStreamState("token-lost", v1::LEASE_STATE_LOST);
  broker_.EndWork({grpc::UNAVAILABLE, "away"});
  ASSERT_TRUE(IsGreeted(2));
  ASSERT_TRUE(broker_.Wait([this] { return CreditOn(2) == 1; })) << "its place is free again";
  broker_.Push("next");
  ASSERT_TRUE(Settles("next"));
  worker->Stop();
  EXPECT_TRUE(was_asked);
  EXPECT_FALSE(HasSettled("lost"));
  EXPECT_EQ(worker->counts().lost, 1);
}

TEST_F(WorkStreamTest, AHeartbeatRenewsWhatIsHeldAndTellsOfACancellation) {
  broker_.SetStreamState("token-a", v1::LEASE_STATE_CANCEL_REQUESTED);
  const auto worker = Started(
      [](const LeasedTask&, Attempt& attempt) {
        attempt.Report({.fraction = 0.5, .message = "half"});
        WaitForStop(attempt.stop_token());
        return Result::Fail({.type = "Cancelled"});
      },
      {.lease_duration = absl::Seconds(1)});
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("a");
  ASSERT_TRUE(Settles("a"));
  worker->Stop();
  bool was_told = false;
  for (const auto& message : broker_.work) {
    for (const auto& lease : message.request.heartbeat().leases()) {
      was_told |= lease.progress().message() == "half";
    }
  }
  EXPECT_TRUE(was_told);
}

TEST_F(WorkStreamTest, AnIdleWorkerKeepsItsSession) {
  const auto worker = Started(AtOnce, {.lease_duration = absl::Seconds(1)});
  EXPECT_TRUE(broker_.Wait([this] {
    int beats = 0;
    for (const auto& message : broker_.work) beats += message.request.has_heartbeat() ? 1 : 0;
    return beats >= 2;
  }));
}

TEST_F(WorkStreamTest, ANoticeOfALostLeaseStopsItsHandler) {
  Gate gate;
  const auto worker = Started([&](const LeasedTask& task, Attempt& attempt) {
    if (task.task_id == "lost") {
      std::thread passing([&gate] { gate.Pass(); });
      WaitForStop(attempt.stop_token());
      passing.join();
    }
    return Result::Done();
  });
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("lost");
  gate.WaitForArrivals(1);
  gate.Open();
  v1::WorkResponse response;
  AddLost("lost", "token-lost", &response);
  broker_.Say(std::move(response));
  ASSERT_TRUE(broker_.Wait([this] { return CreditOn(1) == 2; }));
  worker->Stop();
  EXPECT_EQ(worker->counts().lost, 1);
}

TEST_F(WorkStreamTest, ANoticeOfAHangedAttemptLeavesTheNextOneOfItsTaskAlone) {
  Gate gate;
  const auto worker = Started(
      [&](const LeasedTask& task, Attempt& attempt) {
        if (task.task_id == "lost") {
          WaitForStop(attempt.stop_token());
        } else {
          gate.Pass();
          EXPECT_FALSE(attempt.stop_token().stop_requested());
        }
        return Result::Done();
      },
      {.concurrency = 2});
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("again");
  gate.WaitForArrivals(1);
  broker_.Push("lost");
  v1::WorkResponse response;
  AddLost("again", "token-earlier", &response);
  AddLost("lost", "token-lost", &response);
  broker_.Say(std::move(response));
  ASSERT_TRUE(broker_.Wait([this] { return CreditOn(1) == 3; }));
  gate.Open();
  ASSERT_TRUE(Settles("again"));
  worker->Stop();
  EXPECT_EQ(worker->counts().lost, 1);
  EXPECT_EQ(worker->counts().done, 1);
}

TEST_F(WorkStreamTest, ALostSessionLosesEverything) {
  Gate gate;
  const auto worker = Started(
      [&](const LeasedTask& task, Attempt& attempt) {
        if (task.task_id == "next") return Result::Done();
        std::thread passing([&gate] { gate.Pass(); });
        WaitForStop(attempt.stop_token());
        passing.join();
        return Result::Done();
      },
      {.concurrency = 2});
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("a");
  broker_.Push("b");
  gate.WaitForArrivals(2);
  gate.Open();
  broker_.EndWork(EndedFor("SESSION_LOST"));
  ASSERT_TRUE(broker_.Wait([this] { return CreditOn(2) >= 1; }));
  broker_.Push("next");
  ASSERT_TRUE(Settles("next", 2));
  worker->Stop();
  EXPECT_EQ(worker->counts().lost, 2);
  EXPECT_FALSE(HasSettled("a"));
}

TEST_F(WorkStreamTest, HandlersGoOnWhileAStreamDrains) {
  Gate gate;
  std::atomic<int> errors = 0;
  const auto worker = Started(
      Through(gate),
      {.on_error = [&](const absl::Status&) { ++errors; }});
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("a");
  gate.WaitForArrivals(1);
  v1::WorkResponse draining;
  draining.set_draining(true);
  broker_.Say(std::move(draining));
  broker_.EndWork({grpc::UNAVAILABLE, "the broker shuts down"});
  ASSERT_TRUE(IsGreeted(2));
  EXPECT_EQ(HelloOf(2).leases_size(), 1);
  gate.Open();
  EXPECT_TRUE(Settles("a", 2));
  worker->Stop();
  EXPECT_EQ(worker->counts().done, 1);
  EXPECT_EQ(errors, 0);
}

TEST_F(WorkStreamTest, AResultThatIsRefusedForNowIsKept) {
  v1::Refusal refusal;
  refusal.set_code(grpc::UNAVAILABLE);
  refusal.set_reason("DATABASE_UNAVAILABLE");
  refusal.mutable_retry_delay()->set_nanos(1'000'000);
  broker_.RefuseNext(2, refusal);
  const auto worker = Started(AtOnce);
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("a");
  ASSERT_TRUE(broker_.Wait([this] {
    int count = 0;
    for (const auto& message : broker_.work) count += message.request.settlements_size();
    return count == 3;
  }));
  worker->Stop();
  EXPECT_EQ(worker->counts().done, 1);
}

TEST_F(WorkStreamTest, AnAckThatIsRefusedIsAFailedAttempt) {
  v1::Refusal refusal;
  refusal.set_code(grpc::INVALID_ARGUMENT);
  refusal.set_reason("INVALID_FIELD");
  refusal.set_message("no such stage");
  broker_.RefuseNext(1, refusal);
  const auto worker = Started(AtOnce);
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("a");
  ASSERT_TRUE(broker_.Wait([this] {
    for (const auto& message : broker_.work) {
      for (const auto& settlement : message.request.settlements()) {
        if (settlement.item().nack().error().text() == "no such stage") return true;
      }
    }
    return false;
  }));
  worker->Stop();
  EXPECT_EQ(worker->counts().retried, 1);
}

TEST_F(WorkStreamTest, AWorkerEndsAfterItsNumberOfTasks) {
  const auto worker = Started(AtOnce, {.concurrency = 2, .prefetch = 5, .max_tasks = 3});
  ASSERT_TRUE(IsGreeted(1));
  EXPECT_EQ(CreditOn(1), 3);
  for (const std::string id : {"a", "b", "c"}) broker_.Push(id);
  EXPECT_TRUE(worker->WaitForEnd().ok());
  worker->Stop();
  EXPECT_EQ(CreditOn(1), 3);
  EXPECT_EQ(worker->counts().done, 3);
}

TEST_F(WorkStreamTest, StopHandsBackWhatHasNotBegunAndEndsTheSession) {
  Gate gate;
  const auto worker = Started(Through(gate), {.prefetch = 1});
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("a");
  broker_.Push("b");
  gate.WaitForArrivals(1);
  std::thread stopping([&worker] { worker->Stop(); });
  EXPECT_TRUE(Settles("b"));
  gate.Open();
  stopping.join();
  EXPECT_TRUE(HasSettled("a"));
  EXPECT_EQ(worker->counts().released, 1);
  EXPECT_EQ(worker->counts().done, 1);
  ASSERT_EQ(broker_.heartbeats.size(), 1u);
  EXPECT_TRUE(broker_.heartbeats[0].end_session());
}

// What it had credit for once came while it stopped, to be handed back.
TEST_F(WorkStreamTest, StopTakesTheCreditBack) {
  Gate gate;
  const auto worker = Started(Through(gate), {.prefetch = 3});
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("a");
  gate.WaitForArrivals(1);
  const auto withdrawals = [this] {
    return std::count_if(broker_.work.begin(), broker_.work.end(), [](const auto& message) {
      return message.request.withdraw_credit();
    });
  };
  std::thread stopping([&worker] { worker->Stop(); });
  EXPECT_TRUE(broker_.Wait([&] { return withdrawals() > 0; }));
  gate.Open();
  stopping.join();
  EXPECT_EQ(withdrawals(), 1);
}

}  // namespace
}  // namespace skiplane
