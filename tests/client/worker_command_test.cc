// A worker that makes calls does what an operator asks.
#include "tests/client/worker_fixture.h"

namespace skiplane {
namespace {

class WorkerCommandTest : public WorkerTest {
 protected:
  static WorkerOptions Options() {
    return {.lease_duration = absl::Seconds(1), .wait = absl::ZeroDuration()};
  }

  static Result AtOnce(const LeasedTask&, Attempt&) { return Result::Done(); }

  bool IsAcked(const std::string& token) {
    return broker_.WaitUntil([&] { return broker_.acked.contains(token); });
  }

  bool BeatsAgain() {
    const size_t before = broker_.Get<size_t>([this] { return broker_.heartbeats.size(); });
    return broker_.WaitUntil([&] { return broker_.heartbeats.size() > before; });
  }
};

TEST_F(WorkerCommandTest, AQuietWorkerLeasesNothingBeatsWithoutTasksAndGoesOnWhenAsked) {
  broker_.SetCommand(v1::WORKER_COMMAND_QUIET, v1::WORKER_COMMAND_QUIET);
  const auto worker = Started(&AtOnce, Options());
  ASSERT_TRUE(BeatsAgain());
  const size_t before = broker_.Get<size_t>([this] { return broker_.leases.size(); });
  broker_.AddTask("a");
  ASSERT_TRUE(BeatsAgain());
  EXPECT_EQ(broker_.Get<size_t>([this] { return broker_.leases.size(); }), before);
  broker_.SetCommand(v1::WORKER_COMMAND_RUN, v1::WORKER_COMMAND_RUN);
  EXPECT_TRUE(IsAcked("token-a"));
}

TEST_F(WorkerCommandTest, AWorkerThatALeaseAsksToStopEndsItsSession) {
  broker_.SetCommand(v1::WORKER_COMMAND_STOP, v1::WORKER_COMMAND_STOP);
  const auto worker = Started(&AtOnce, Options());
  const absl::Status end = worker->WaitForEnd();
  EXPECT_EQ(end.message(), "an operator asked the worker to stop");
  EXPECT_TRUE(broker_.WaitUntil([this] {
    return !broker_.heartbeats.empty() && broker_.heartbeats.back().end_session();
  }));
}

// Another broker may not have heard of the latest command when it answers a Lease.
TEST_F(WorkerCommandTest, ALeaseThatKnowsOfNoCommandEndsNone) {
  Gate gate;
  Gate told;
  told.Open();
  broker_.AddTask("a");
  broker_.SetCommand(v1::WORKER_COMMAND_QUIET, v1::WORKER_COMMAND_UNSPECIFIED);
  WorkerOptions options = Options();
  options.concurrency = 2;
  options.wait = absl::Seconds(20);
  options.on_command = [&told](WorkerCommand command) {
    EXPECT_EQ(command, WorkerCommand::kQuiet);
    told.Pass();
  };
  const auto worker = Started(Through(gate), options);
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.parked == 1; }));
  told.WaitForArrivals(1);
  broker_.AddTask("b");  // for the Lease that waits
  gate.WaitForArrivals(2);
  gate.Open();
  EXPECT_TRUE(IsAcked("token-a"));
  EXPECT_TRUE(IsAcked("token-b"));
  broker_.AddTask("c");
  ASSERT_TRUE(BeatsAgain());
  ASSERT_TRUE(BeatsAgain());
  EXPECT_FALSE(broker_.Get<bool>([this] { return broker_.acked.contains("token-c"); }));
}

TEST_F(WorkerCommandTest, ABurstThatIsAskedToStopSaysSo) {
  Gate gate;
  broker_.AddTask("a");
  broker_.SetCommand(v1::WORKER_COMMAND_STOP, v1::WORKER_COMMAND_STOP);
  WorkerOptions options = Options();
  options.burst = true;
  const auto worker = Started(Through(gate), options);
  gate.Open();
  EXPECT_TRUE(absl::IsCancelled(worker->WaitForEnd()));
}

TEST_F(WorkerCommandTest, ALeaseSaysVersionAndConcurrency) {
  WorkerOptions options = Options();
  options.concurrency = 3;
  options.version = "mailer/7";
  const auto worker = Started(&AtOnce, options);
  ASSERT_TRUE(broker_.WaitUntil([this] { return !broker_.leases.empty(); }));
  const auto lease = broker_.Get<v1::LeaseRequest>([this] { return broker_.leases.front(); });
  EXPECT_EQ(lease.client_version(), "mailer/7");
  EXPECT_EQ(lease.concurrency(), 3);
}

}  // namespace
}  // namespace skiplane
