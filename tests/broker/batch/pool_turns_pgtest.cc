// Lists that take long hold up other lists, and calls that need a connection for themselves hold up
// each other: batches go on.
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/broker/batch/pool_turns.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using broker::TurnOf;
using Page = broker::AuditPage;

// Of these, calls of operators take four at a time, and with what workers and producers wait for
// five. The last one may read what the metrics tell.
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

  // Of a party of its own.
  Later<std::vector<broker::EnqueueResult>> EnqueueInto(const std::string& queue) {
    Later<std::vector<broker::EnqueueResult>> later;
    broker().Enqueue({queue, {Payload("x")}, "", "queue", false, "", queue}, later.done());
    return later;
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

// They were jobs of the pool, before all batches: a principal may have thousands under way.
TEST_F(PoolTurnsTest, BatchesGoOnWhileOperatorsCallsWait) {
  const model::TaskId task = Enqueue({Payload("x")}).at(0).id;
  const auto lock = Lock("skiplane.audit");
  std::vector<Later<Page>> lists = AskForTen();
  std::vector<Later<model::TaskView>> changes(10);
  for (size_t i = 0; i < changes.size(); ++i) {
    broker::ChangeTaskCall call;
    call.id = task;
    call.change.kind = model::TaskChange::Kind::kPrioritize;
    call.party = std::to_string(i);
    broker().AsOperator().ChangeTask(std::move(call), changes[i].done());
  }
  Later<broker::QueueWithCounts> queue;
  broker().GetQueue({"q", "other"}, queue.done());
  Later<model::BulkOperation> operation;
  broker().AsOperator().GetBulk({model::NewSessionId(), absl::ZeroDuration(), {}, "other"},
                                operation.done());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Enqueue({Payload("beside them")}).size(), 1u);
  EXPECT_THAT(EnqueueInto("unknown").Get(), IsOk()) << "what producers wait for goes on, too";
  for (auto& later : changes) EXPECT_FALSE(later.is_there());
  for (Later<Page>& list : lists) EXPECT_FALSE(list.is_there());
  EXPECT_FALSE(queue.is_there() || operation.is_there());
  Required(lock->RunText("COMMIT"));
  for (auto& later : changes) EXPECT_THAT(later.Get(), IsOk());
  for (Later<Page>& list : lists) EXPECT_THAT(list.Get(), IsOk());
  EXPECT_THAT(queue.Get(), IsOk());
  EXPECT_THAT(operation.Get(), ReasonIs("OPERATION_NOT_FOUND"));
}

TEST_F(PoolTurnsTest, BatchesGoOnWhileWhatIsNotKnownIsLookedFor) {
  Enqueue({Payload("x")});
  const auto lock = Lock("skiplane.queue IN SHARE MODE");  // they are read, and not made
  std::vector<Later<std::vector<broker::EnqueueResult>>> made;
  for (int i = 0; i < 10; ++i) made.push_back(EnqueueInto(absl::StrCat("new-", i)));
  model::NewTask periodic = Payload("cron");
  periodic.cron = "0 4 * * *";
  Later<std::vector<broker::EnqueueResult>> with_cron;
  broker().Enqueue({"q", {periodic}, "", "queue", false, "", "other"}, with_cron.done());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Enqueue({Payload("beside them")}).size(), 1u);
  for (auto& later : made) EXPECT_FALSE(later.is_there());
  EXPECT_FALSE(with_cron.is_there());
  Required(lock->RunText("COMMIT"));
  for (auto& later : made) EXPECT_THAT(later.Get(), IsOk());
  EXPECT_THAT(with_cron.Get(), IsOk());
}

TEST_F(PoolTurnsTest, OnePartysListsLeaveAConnectionToAnothers) {
  pg::Pool pool({.uri = database_.broker_uri()}, 2, nullptr, [](bool) {});
  broker::PoolTurns turns(pool, 8);  // two lists at a time
  std::promise<void> other_is_done;
  Later<int> greedy[2];
  turns.Submit(TurnOf::kList, "greedy",
               [&, done = greedy[0].done()](absl::StatusOr<pg::Session*>) mutable {
                 other_is_done.get_future().wait();
                 done(0);
               });
  turns.Submit(TurnOf::kList, "greedy", [done = greedy[1].done()](auto) mutable { done(0); });
  Later<int> other;
  turns.Submit(TurnOf::kList, "other", [done = other.done()](auto) mutable { done(0); });
  EXPECT_THAT(other.Get(), IsOk());
  EXPECT_FALSE(greedy[1].is_there());
  other_is_done.set_value();
  for (Later<int>& end : greedy) EXPECT_THAT(end.Get(), IsOk());
  pool.Stop();
}

// The pool's queue is as long as others make it: each job once waited there by itself.
TEST_F(PoolTurnsTest, ShortJobsFollowOneAnotherOnOneConnection) {
  pg::Pool pool({.uri = database_.broker_uri()}, 1, nullptr, [](bool) {});
  broker::PoolTurns turns(pool, 1);
  std::promise<void> all_wait;
  pool.Submit([go_on = all_wait.get_future()](const auto&) mutable { go_on.wait(); });
  std::string order;  // of one thread
  std::vector<Later<int>> ends(4);
  const auto note = [&](size_t which, char name) {
    return [&order, name, done = ends[which].done()](auto) mutable {
      order.push_back(name);
      done(0);
    };
  };
  for (size_t i = 0; i < 3; ++i) turns.Submit(TurnOf::kWork, "party", note(i, 'j'));
  pool.Submit(note(3, 'b'));
  all_wait.set_value();
  for (auto& end : ends) EXPECT_THAT(end.Get(), IsOk());
  EXPECT_EQ(order, "jjjb");
  pool.Stop();
}

// One read is made, and holds up the others: then each party has its turn.
TEST_F(PoolTurnsTest, WhoAsksForManyWaitsForItself) {
  pg::Pool pool({.uri = database_.broker_uri()}, 1, nullptr, [](bool) {});
  broker::PoolTurns turns(pool, 1);
  std::promise<void> all_wait;
  turns.Submit(TurnOf::kCall, "greedy",
               [go_on = all_wait.get_future()](const auto&) mutable { go_on.wait(); });
  std::string order;  // of one thread
  std::vector<Later<int>> ends(5);
  for (const auto& [end, party] : {std::pair(0, "greedy"), std::pair(1, "greedy"),
                                   std::pair(2, "greedy"), std::pair(3, "other"),
                                   std::pair(4, "third")}) {
    turns.Submit(TurnOf::kCall, party, [&order, name = party[0],
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
  broker::PoolTurns turns(pool, 2);
  std::vector<Later<int>> lists(1000);
  for (Later<int>& list : lists) {
    turns.Submit(TurnOf::kList, "party",
                 [done = list.done()](const absl::StatusOr<pg::Session*>& session) mutable {
                   done(session.ok() ? absl::StatusOr<int>(1) : session.status());
                 });
  }
  for (Later<int>& list : lists) EXPECT_FALSE(list.Get().ok());
  pool.Stop();
}

}  // namespace
}  // namespace skiplane::testing
