// Heartbeats: what they say of leases, and what they read for it.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/store/reclaim.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using model::LeaseState;
using ::testing::Each;
using ::testing::ElementsAre;

class HeartbeatTest : public BrokerHarness {
 protected:
  broker::HeartbeatAnswer Heartbeat(std::vector<model::HeldLease> leases) {
    Later<broker::HeartbeatAnswer> later;
    broker().Heartbeat({"w", absl::Seconds(30), std::move(leases)}, later.done());
    return Required(later.Get());
  }

  std::vector<LeaseState> StatesOf(const std::vector<model::LeasedTask>& tasks) {
    std::vector<model::HeldLease> held;
    for (const model::LeasedTask& task : tasks) held.push_back({task.token, std::nullopt});
    return Heartbeat(std::move(held)).states;
  }

  std::vector<model::LeasedTask> LeaseNew(int count) {
    Enqueue(std::vector<model::NewTask>(static_cast<size_t>(count), Payload("x")));
    return Lease(LeaseOf("w", count, absl::Seconds(30))).tasks;
  }

  void Cancel(const model::TaskId& id) {
    broker::ChangeTaskCall call;
    call.id = id;
    call.origin = Origin();
    call.change.kind = model::TaskChange::Kind::kCancel;
    Later<model::TaskView> later;
    broker().AsOperator().ChangeTask(std::move(call), later.done());
    ASSERT_THAT(later.Get(), IsOk());
  }

  // As upkeep does with attempts that run too long: here, all of the lane.
  store::Reclaimed TakeBackHanged(const model::TaskId& id) {
    model::QueueSettings settings;
    settings.max_run_duration = absl::Microseconds(1);
    const auto session = Required(pg::Session::Open({.uri = database_.uri()}, nullptr));
    return Required(store::ReclaimHanged(*session, id.lane, settings, 100));
  }

  bool HasReadTasks() { return absl::StrContains(metrics_.Text(), "statement=\"lease_state\""); }
};

// They once stood behind the batches of all lanes, some of them for longer than leases last.
TEST_F(HeartbeatTest, HeartbeatsGoBeforeBatchesThatWait) {
  const auto one = NewBroker(true, 1);
  const auto put = [&](int queue, broker::Callback<std::vector<broker::EnqueueResult>> done) {
    one->Enqueue({absl::StrCat("q", queue), {Payload("x")}, "", "queue", false, "", ""},
                 std::move(done));
  };
  constexpr int kQueues = 20;
  model::TaskId task;
  for (int i = 0; i < kQueues; ++i) {
    Later<std::vector<broker::EnqueueResult>> made;
    put(i, made.done());
    task = Required(made.Get()).front().id;
  }
  const auto lock = Lock("skiplane.audit");
  broker::ChangeTaskCall change;
  change.id = task;
  change.change.kind = model::TaskChange::Kind::kPrioritize;
  Later<model::TaskView> changed;
  one->AsOperator().ChangeTask(std::move(change), changed.done());
  std::string order;  // of the one connection's thread
  std::vector<Later<int>> ends(kQueues + 1);
  for (int i = 0; i < kQueues; ++i) {
    put(i, [&order, done = ends[static_cast<size_t>(i)].done()](const auto&) mutable {
      order.push_back('q');
      done(0);
    });
  }
  one->Heartbeat({"w", absl::Seconds(30), {}},
                 [&order, done = ends.back().done()](const auto&) mutable {
                   order.push_back('h');
                   done(0);
                 });
  Required(lock->RunText("COMMIT"));
  EXPECT_THAT(changed.Get(), IsOk());
  for (auto& end : ends) EXPECT_THAT(end.Get(), IsOk());
  EXPECT_EQ(order.front(), 'h') << order;
}

TEST_F(HeartbeatTest, AHeartbeatTellsHeldLostAndCancelled) {
  Enqueue({Payload("a"), Payload("b")});
  const auto tasks = Lease(LeaseOf("w", 2, absl::Seconds(30))).tasks;
  ASSERT_EQ(tasks.size(), 2u);
  Cancel(tasks[1].token.task);
  model::LeaseToken stranger = tasks[0].token;
  stranger.session = model::NewSessionId();
  const broker::HeartbeatAnswer answer =
      Heartbeat({{tasks[0].token, model::TaskProgress{0.5, "half"}},
                 {tasks[1].token, std::nullopt},
                 {stranger, std::nullopt}});
  EXPECT_THAT(answer.states, ElementsAre(LeaseState::kHeld, LeaseState::kCancelRequested,
                                         LeaseState::kLost));
  EXPECT_GT(answer.lease_remaining, absl::Seconds(29));
  Later<broker::TaskDetails> view;
  broker::GetTaskCall call;
  call.id = tasks[0].token.task;
  broker().AsOperator().GetTask(std::move(call), view.done());
  const auto details = view.Get();
  ASSERT_THAT(details, IsOk());
  EXPECT_EQ(details->task.queue, "q");
  ASSERT_TRUE(details->task.progress.has_value());
  EXPECT_EQ(details->task.progress->message, "half");
}

TEST_F(HeartbeatTest, AHeartbeatOfALostSessionSaysSo) {
  Enqueue({Payload("a")});
  const model::LeaseToken token = LeaseOne("w").token;
  Sql("UPDATE skiplane.worker_session SET state = 2");
  const broker::HeartbeatAnswer answer = Heartbeat({{token, std::nullopt}});
  EXPECT_FALSE(answer.session_alive);
  EXPECT_THAT(answer.states, ElementsAre(LeaseState::kLost));
}

TEST_F(HeartbeatTest, ReadNoTasksWhileNothingWasTaken) {
  const auto tasks = LeaseNew(3);
  EXPECT_EQ(Ack(tasks[1].token), model::SettleOutcome::kSettled);
  EXPECT_THAT(StatesOf(tasks), Each(LeaseState::kHeld)) << "that one the worker knows itself";
  EXPECT_FALSE(HasReadTasks());
  Cancel(tasks[0].token.task);
  EXPECT_THAT(StatesOf({tasks[0]}), ElementsAre(LeaseState::kCancelRequested));
  EXPECT_TRUE(HasReadTasks());
}

TEST_F(HeartbeatTest, LeasesThatAreNewerThanTheTakenOneAreNotRead) {
  const auto older = LeaseNew(1);
  Cancel(older[0].token.task);
  const auto newer = LeaseNew(1);
  EXPECT_THAT(StatesOf(newer), ElementsAre(LeaseState::kHeld));
  EXPECT_FALSE(HasReadTasks());
}

TEST_F(HeartbeatTest, EachHeartbeatTellsAgainSinceAnAnswerMayGetLost) {
  const auto tasks = LeaseNew(2);
  Cancel(tasks[0].token.task);
  for (int heartbeat = 0; heartbeat < 3; ++heartbeat) {
    EXPECT_THAT(StatesOf(tasks), ElementsAre(LeaseState::kCancelRequested, LeaseState::kHeld));
    EXPECT_THAT(StatesOf({tasks[1]}), ElementsAre(LeaseState::kHeld)) << "of another thread";
  }
}

TEST_F(HeartbeatTest, AHangedAttemptIsLostAlthoughItsWorkerLives) {
  const auto hanged = LeaseNew(1);
  EXPECT_EQ(TakeBackHanged(hanged[0].token.task).freed, 1);
  const auto again = LeaseNew(1);
  for (int heartbeat = 0; heartbeat < 2; ++heartbeat) {
    EXPECT_THAT(StatesOf({hanged[0], again[0]}), ElementsAre(LeaseState::kLost, LeaseState::kHeld));
  }
}

TEST_F(HeartbeatTest, OfACancelledAndHangedOneItIsTheLoss) {
  const auto tasks = LeaseNew(1);
  Cancel(tasks[0].token.task);
  EXPECT_EQ(TakeBackHanged(tasks[0].token.task).cancelled, 1);
  EXPECT_THAT(StatesOf(tasks), ElementsAre(LeaseState::kLost));
}

TEST_F(HeartbeatTest, HoweverManyAreCancelledEachHeartbeatTellsTheTruth) {
  const auto tasks = LeaseNew(1000);
  const auto others = LeaseNew(1000);
  for (const std::string table : {"task", "task_pack"}) {
    Sql("UPDATE skiplane." + table + " SET priority = 1 WHERE id <= " +
        std::to_string(tasks.back().token.task.id));
  }
  broker::StartBulkCall call;
  call.filter.queue = "q";
  call.filter.states.leased = true;
  call.filter.priority = 1;
  call.change.kind = model::TaskChange::Kind::kCancel;
  call.origin = Origin();
  call.wait = absl::Minutes(1);
  Later<model::BulkOperation> later;
  broker().AsOperator().StartBulk(std::move(call), later.done());
  ASSERT_EQ(Required(later.Get()).changed, 1000);
  EXPECT_THAT(StatesOf(tasks), Each(LeaseState::kCancelRequested));
  EXPECT_THAT(StatesOf(others), Each(LeaseState::kHeld));
  EXPECT_EQ(Number("SELECT pg_column_size(s.*) / 1000 FROM skiplane.worker_session s"), 0)
      << "what the session keeps of it is bounded";
}

}  // namespace
}  // namespace skiplane::testing
