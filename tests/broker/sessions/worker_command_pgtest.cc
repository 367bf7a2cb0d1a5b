// How workers hear of commands, and what that costs.
#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using model::WorkerCommand;

class WorkerCommandTest : public BrokerHarness {
 protected:
  WorkerCommand Beat(broker::LocalBroker& broker) {
    Later<broker::HeartbeatAnswer> later;
    broker.Heartbeat({"w", absl::Seconds(30), {}}, later.done());
    return Required(later.Get()).command;
  }

  absl::StatusOr<model::Worker> Ask(WorkerCommand command, std::string handle = "") {
    broker::CommandWorkerCall call;
    call.handle = handle.empty() ? Sql("SELECT worker_handle FROM skiplane.workers "
                                       "WHERE state = 'alive'")
                                 : std::move(handle);
    call.command = command;
    call.origin = Origin();
    Later<model::Worker> later;
    broker().AsOperator().CommandWorker(std::move(call), later.done());
    return later.Get();
  }
};

TEST_F(WorkerCommandTest, EveryBrokerTellsItByTheNextHeartbeat) {
  Enqueue({Payload("a")});
  LeaseOne("w");
  const auto other = NewBroker();
  EXPECT_EQ(Beat(*other), WorkerCommand::kRun);
  const model::Worker asked = Required(Ask(WorkerCommand::kQuiet));
  EXPECT_EQ(asked.command, WorkerCommand::kQuiet);
  EXPECT_EQ(asked.leased, 1);
  EXPECT_THAT(asked.queues, ::testing::ElementsAre("q"));
  EXPECT_EQ(Beat(broker()), WorkerCommand::kQuiet);
  EXPECT_EQ(Beat(*other), WorkerCommand::kQuiet);
}

TEST_F(WorkerCommandTest, ALeaseTellsWhatTheLastHeartbeatDid) {
  Enqueue({Payload("a"), Payload("b")});
  EXPECT_EQ(Lease(LeaseOf("w", 1, absl::Seconds(30))).command, WorkerCommand::kRun);
  Required(Ask(WorkerCommand::kStop));
  EXPECT_EQ(Beat(broker()), WorkerCommand::kStop);
  const broker::LeaseAnswer full = Lease(LeaseOf("w", 1, absl::Seconds(30)));
  EXPECT_EQ(full.tasks.size(), 1u);
  EXPECT_EQ(full.command, WorkerCommand::kStop);
  const broker::LeaseAnswer empty = Lease(LeaseOf("w"));
  EXPECT_TRUE(empty.tasks.empty());
  EXPECT_EQ(empty.command, WorkerCommand::kStop);
}

TEST_F(WorkerCommandTest, AnUnknownHandleIsRefusedAndLeavesNoRecord) {
  const auto refused = Ask(WorkerCommand::kQuiet, "0123456789abcdef");
  EXPECT_TRUE(absl::IsNotFound(refused.status())) << refused.status();
  EXPECT_EQ(Sql("SELECT count(*) FROM skiplane.audit WHERE method_name = 'Test'"), "0");
}

TEST_F(WorkerCommandTest, ToTellItCostsNoStatementOfItsOwn) {
  Enqueue({Payload("a")});
  LeaseOne("w");
  Required(Ask(WorkerCommand::kQuiet));
  const int64_t renewals = RunsOf("session_renew");
  const int64_t lists = RunsOf("worker_list");
  EXPECT_EQ(Beat(broker()), WorkerCommand::kQuiet);
  EXPECT_EQ(RunsOf("session_renew"), renewals + 1);
  EXPECT_EQ(RunsOf("worker_list"), lists);
  EXPECT_EQ(RunsOf("session_alive"), 0);
  EXPECT_EQ(RunsOf("worker_command"), 1);
}

}  // namespace
}  // namespace skiplane::testing
