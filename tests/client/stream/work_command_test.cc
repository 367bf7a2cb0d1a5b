// A worker on a stream does what an operator asks.
#include <mutex>

#include "tests/client/stream/work_stream_fixture.h"

namespace skiplane {
namespace {

// A heartbeat comes three times in that.
constexpr absl::Duration kShort = absl::Seconds(1);

class WorkCommandTest : public WorkStreamTest {
 protected:
  // With the broker's streams at rest:
  bool HasWithdrawn() const {
    for (const auto& message : broker_.work) {
      if (message.request.withdraw_credit()) return true;
    }
    return false;
  }

  int64_t Credit(int stream) {
    int64_t credit = 0;
    broker_.Wait([&] {
      credit = CreditOn(stream);
      return true;
    });
    return credit;
  }

  bool HasEndedSession() {
    return broker_.WaitUntil([this] {
      return !broker_.heartbeats.empty() && broker_.heartbeats.back().end_session();
    });
  }

  WorkerOptions Options() {
    WorkerOptions options{.concurrency = 2, .lease_duration = kShort};
    options.on_command = [this](WorkerCommand command) {
      const std::lock_guard<std::mutex> lock(mutex_);
      told_.push_back(command);
    };
    return options;
  }

  std::vector<WorkerCommand> told() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return told_;
  }

 private:
  std::mutex mutex_;
  std::vector<WorkerCommand> told_;
};

TEST_F(WorkCommandTest, TheHelloSaysVersionAndConcurrency) {
  WorkerOptions options = Options();
  options.version = "mailer/7";
  const auto worker = Started(&AtOnce, options);
  ASSERT_TRUE(IsGreeted(1));
  EXPECT_EQ(HelloOf(1).client_version(), "mailer/7");
  EXPECT_EQ(HelloOf(1).concurrency(), 2);
}

TEST_F(WorkCommandTest, TheHelloNamesTheLibraryWhoseWorkerHasNoVersion) {
  const auto worker = Started(&AtOnce);
  ASSERT_TRUE(IsGreeted(1));
  EXPECT_EQ(HelloOf(1).client_version().rfind("skiplane-cpp/", 0), 0u);
}

TEST_F(WorkCommandTest, AQuietWorkerTakesItsCreditBackAndFinishesWhatItHolds) {
  Gate gate;
  const auto worker = Started(Through(gate), Options());
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("held");
  gate.WaitForArrivals(1);
  broker_.SetStreamCommand(v1::WORKER_COMMAND_QUIET);
  ASSERT_TRUE(broker_.Wait([this] { return HasWithdrawn(); }));
  const int64_t before = Credit(1);
  gate.Open();
  EXPECT_TRUE(Settles("held"));
  EXPECT_EQ(Credit(1), before) << "its place is not given either";
  broker_.SetStreamCommand(v1::WORKER_COMMAND_RUN);
  EXPECT_TRUE(broker_.Wait([&] { return CreditOn(1) == before + 2; }));
  EXPECT_TRUE(broker_.WaitUntil([this] { return told().size() == 2; }));
  EXPECT_EQ(told(), (std::vector{WorkerCommand::kQuiet, WorkerCommand::kRun}));
}

TEST_F(WorkCommandTest, AQuietWorkerHasNoCreditOnItsNextStream) {
  const auto worker = Started(&AtOnce, Options());
  ASSERT_TRUE(IsGreeted(1));
  broker_.SetStreamCommand(v1::WORKER_COMMAND_QUIET);
  ASSERT_TRUE(broker_.Wait([this] { return HasWithdrawn(); }));
  broker_.EndWork({grpc::UNAVAILABLE, "gone"});
  ASSERT_TRUE(IsGreeted(2));
  EXPECT_EQ(Credit(2), 0);
}

TEST_F(WorkCommandTest, AWorkerThatIsAskedToStopDoesAsIfItsOwnerHad) {
  Gate gate;
  const auto worker = Started(Through(gate), Options());
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("held");
  gate.WaitForArrivals(1);
  broker_.SetStreamCommand(v1::WORKER_COMMAND_STOP);
  const absl::Status end = worker->WaitForEnd();
  EXPECT_TRUE(absl::IsCancelled(end)) << end;
  EXPECT_EQ(end.message(), "an operator asked the worker to stop");
  gate.Open();
  EXPECT_TRUE(Settles("held"));
  EXPECT_TRUE(HasEndedSession());
  EXPECT_EQ(told(), std::vector{WorkerCommand::kStop});
  worker->Stop();
  EXPECT_EQ(worker->counts().done, 1);
}

}  // namespace
}  // namespace skiplane
