// Lists that take long hold up other lists, and calls that need a connection for themselves hold up
// each other: batches go on.
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/broker/batch/pool_turns.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using Page = broker::AuditPage;

// Of these, lists take three at a time, one of them for one party, and calls that are a job each
// three. Another one may read what the metrics tell.
constexpr int kConnections = 6;

class PoolTurnsTest : public BrokerHarness {
 protected:
  // Its statements wait for a lock as long as a test lasts: who goes before them has a connection.
  PoolTurnsTest() {
    broker::BrokerOptions options;
    options.connect.uri = database_.broker_uri();
    options.connect.statement_timeout = options.connect.lock_timeout = absl::Minutes(5);
    options.connections = kConnections;
    options.create_missing_queues = true;
    options.id = model::NewSessionId();
    broker_.reset();
    broker_ = std::make_unique<broker::LocalBroker>(options, metrics_, [](bool) {});
  }

  // More than there are connections.
  std::vector<Later<Page>> AskForTen() {
    std::vector<Later<Page>> lists(10);
    for (Later<Page>& list : lists) broker().AsOperator().ListAudit(ListAll(), list.done());
    return lists;
  }

  static broker::ListAuditCall ListAll() {
    broker::ListAuditCall call;
    call.limit = 10;
    return call;
  }
};

TEST_F(PoolTurnsTest, OtherCallsGoOnWhileListsWait) {
  Enqueue({Payload("makes the queue")});
  const auto lock = Lock("skiplane.audit");
  std::vector<Later<Page>> lists = AskForTen();
  ASSERT_EQ(Enqueue({Payload("beside them")}).size(), 1u);
  for (Later<Page>& list : lists) EXPECT_FALSE(list.is_there());
  Required(lock->RunText("COMMIT"));
  for (Later<Page>& list : lists) EXPECT_THAT(list.Get(), IsOk());
}

TEST_F(PoolTurnsTest, ALookAtATaskWaitsForNoList) {
  const std::vector<broker::EnqueueResult> made = Enqueue({Payload("x")});
  const auto lock = Lock("skiplane.audit");
  std::vector<Later<Page>> lists = AskForTen();
  broker::GetTaskCall call;
  call.id = made.at(0).id;
  call.attempts_max = 1;
  Later<broker::TaskDetails> look;
  const auto pending = broker().AsOperator().GetTask(std::move(call), look.done());
  EXPECT_THAT(look.Get(), IsOk());
  broker::ExplainTaskCall why;
  why.id = made.at(0).id;
  Later<broker::Explanation> explained;
  broker().AsOperator().ExplainTask(std::move(why), explained.done());
  EXPECT_THAT(explained.Get(), IsOk());
  for (Later<Page>& list : lists) EXPECT_FALSE(list.is_there());
  Required(lock->RunText("COMMIT"));
  for (Later<Page>& list : lists) EXPECT_THAT(list.Get(), IsOk());
}

// Of reads that are short, too: each holds a connection.
TEST_F(PoolTurnsTest, OtherCallsGoOnWhileListsOfWorkersWait) {
  Enqueue({Payload("makes the queue")});
  const auto lock = Lock("skiplane.worker_session");
  std::vector<Later<std::vector<model::Worker>>> workers(10);
  for (auto& later : workers) {
    broker::ListWorkersCall call;
    call.limit = 10;
    broker().AsOperator().ListWorkers(std::move(call), later.done());
  }
  ASSERT_EQ(Enqueue({Payload("beside them")}).size(), 1u);
  for (auto& later : workers) EXPECT_FALSE(later.is_there());
  Required(lock->RunText("COMMIT"));
  for (auto& later : workers) EXPECT_THAT(later.Get(), IsOk());
}

TEST_F(PoolTurnsTest, OtherCallsGoOnWhileLooksAtTasksWait) {
  const model::TaskId nowhere{Enqueue({Payload("x")}).at(0).id.lane, INT64_MAX};
  const auto lock = Lock("skiplane.task_failed");  // it is looked for there, too
  std::vector<Later<broker::Explanation>> explanations(10);
  for (auto& later : explanations) broker().AsOperator().ExplainTask({nowhere}, later.done());
  ASSERT_EQ(Enqueue({Payload("beside explanations")}).size(), 1u);
  std::vector<Later<std::vector<absl::Time>>> previews(10);
  for (auto& later : previews) {
    broker::PreviewCall call;
    call.task = nowhere;
    broker().AsOperator().PreviewSchedule(std::move(call), later.done());
  }
  ASSERT_EQ(Enqueue({Payload("beside previews")}).size(), 1u);
  std::vector<Later<broker::TaskDetails>> looks(10);
  std::vector<std::shared_ptr<broker::PendingTask>> pending;
  for (auto& later : looks) {
    broker::GetTaskCall call;
    call.id = nowhere;
    pending.push_back(broker().AsOperator().GetTask(std::move(call), later.done()));
  }
  ASSERT_EQ(Enqueue({Payload("beside looks")}).size(), 1u);
  for (auto& later : explanations) EXPECT_FALSE(later.is_there());
  Required(lock->RunText("COMMIT"));
  for (auto& later : explanations) EXPECT_FALSE(later.Get().ok());
  for (auto& later : previews) EXPECT_FALSE(later.Get().ok());
  for (auto& later : looks) EXPECT_FALSE(later.Get().ok());
}

// Each of them was a job of the pool, before all batches: a principal may have thousands under way.
TEST_F(PoolTurnsTest, BatchesGoOnWhileCallsThatAreAJobEachWait) {
  const model::TaskId task = Enqueue({Payload("x")}).at(0).id;
  const auto lock = Lock("skiplane.audit");
  std::vector<Later<model::TaskView>> changes(10);
  for (auto& later : changes) {
    broker::ChangeTaskCall call;
    call.id = task;
    call.change.kind = model::TaskChange::Kind::kPrioritize;
    call.party = "greedy";
    broker().AsOperator().ChangeTask(std::move(call), later.done());
  }
  Later<broker::QueueWithCounts> queue;
  broker().GetQueue({"q", "other"}, queue.done());
  Later<std::vector<broker::EnqueueResult>> with_cron;
  model::NewTask periodic = Payload("cron");
  periodic.cron = "0 4 * * *";
  broker().Enqueue({"q", {periodic}, "", "queue", false, "", "other"}, with_cron.done());
  Later<std::vector<broker::EnqueueResult>> into_new;
  broker().Enqueue({"unknown", {Payload("y")}, "", "queue", false, "", "other"}, into_new.done());
  Later<model::BulkOperation> operation;
  broker().AsOperator().GetBulk({model::NewSessionId(), absl::ZeroDuration(), {}, "other"},
                                operation.done());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Enqueue({Payload("beside them")}).size(), 1u);
  for (auto& later : changes) EXPECT_FALSE(later.is_there());
  EXPECT_FALSE(queue.is_there() || with_cron.is_there() || into_new.is_there() ||
               operation.is_there());
  Required(lock->RunText("COMMIT"));
  for (auto& later : changes) EXPECT_THAT(later.Get(), IsOk());
  EXPECT_THAT(queue.Get(), IsOk());
  EXPECT_THAT(with_cron.Get(), IsOk());
  EXPECT_THAT(into_new.Get(), IsOk());
  EXPECT_THAT(operation.Get(), ReasonIs("OPERATION_NOT_FOUND"));
}

TEST_F(PoolTurnsTest, OnePartysListsLeaveAConnectionToAnothers) {
  pg::Pool pool({.uri = database_.broker_uri()}, 2, nullptr, [](bool) {});
  broker::PoolTurns turns(pool, 2, 1, 2);
  std::promise<void> other_is_done;
  Later<int> greedy[2];
  turns.Submit("greedy", [&, done = greedy[0].done()](absl::StatusOr<pg::Session*>) mutable {
    other_is_done.get_future().wait();
    done(0);
  });
  turns.Submit("greedy", [done = greedy[1].done()](auto) mutable { done(0); });
  Later<int> other;
  turns.Submit("other", [done = other.done()](auto) mutable { done(0); });
  EXPECT_THAT(other.Get(), IsOk());
  EXPECT_FALSE(greedy[1].is_there());
  other_is_done.set_value();
  for (Later<int>& end : greedy) EXPECT_THAT(end.Get(), IsOk());
  pool.Stop();
}

// One read is made, and holds up the others: then each party has its turn.
TEST_F(PoolTurnsTest, WhoAsksForManyWaitsForItself) {
  pg::Pool pool({.uri = database_.broker_uri()}, 1, nullptr, [](bool) {});
  broker::PoolTurns turns(pool, 1, 1);
  std::promise<void> all_wait;
  turns.Submit("greedy", [go_on = all_wait.get_future()](absl::StatusOr<pg::Session*>) mutable {
    go_on.wait();
  });
  std::string order;  // of one thread
  std::vector<Later<int>> ends(5);
  for (const auto& [end, party] : {std::pair(0, "greedy"), std::pair(1, "greedy"),
                                   std::pair(2, "greedy"), std::pair(3, "other"),
                                   std::pair(4, "third")}) {
    turns.Submit(party, [&order, name = party[0],
                         done = ends[static_cast<size_t>(end)].done()](auto) mutable {
      order.push_back(name);
      done(0);
    });
  }
  all_wait.set_value();
  for (auto& end : ends) EXPECT_THAT(end.Get(), IsOk());
  EXPECT_EQ(order, "gotgg");
  pool.Stop();
}

TEST(PoolTurnsWithoutDatabaseTest, ListsThatWaitAreRefusedWithTheOneThatCannotBeMade) {
  pg::Pool pool({.uri = "postgresql://127.0.0.1:1/nowhere"}, 2, nullptr, [](bool) {});
  broker::PoolTurns turns(pool, 2, 2);
  std::vector<Later<int>> lists(1000);
  for (Later<int>& list : lists) {
    turns.Submit("party", [done = list.done()](absl::StatusOr<pg::Session*> session) mutable {
      done(session.ok() ? absl::StatusOr<int>(1) : session.status());
    });
  }
  for (Later<int>& list : lists) EXPECT_FALSE(list.Get().ok());
  pool.Stop();
}

}  // namespace
}  // namespace skiplane::testing
