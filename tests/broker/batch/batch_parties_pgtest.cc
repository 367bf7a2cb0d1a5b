// Batches of many lanes that belong to one party let those of others pass: each waits for one of
// them at most.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

constexpr int kQueues = 10;

class BatchPartiesTest : public BrokerHarness {
 protected:
  BatchPartiesTest() { broker_ = NewBroker(true, 1); }
  void TearDown() override { broker_.reset(); }  // what is not answered yet is noted, too

  static std::string Queue(int number) { return absl::StrCat("greedy-", number); }

  void EnqueueInto(const std::string& queue, const std::string& party,
                   broker::Callback<std::vector<broker::EnqueueResult>> done) {
    broker::EnqueueCall call;
    call.queue = queue;
    call.tasks = {Payload("x")};
    call.queue_field = "queue";
    call.party = party;
    broker().Enqueue(std::move(call), std::move(done));
  }

  void MakeQueues() {
    for (int i = 0; i < kQueues; ++i) MakeTask(Queue(i));
    MakeTask("modest");
  }
  void MakeTask(const std::string& queue) {
    Later<std::vector<broker::EnqueueResult>> made;
    EnqueueInto(queue, "", made.done());
    Required(made.Get());
  }
  std::vector<model::SettleItem> AckOfOneIn(const std::string& queue) {
    broker::LeaseCall call = LeaseOf("w", 1, absl::Minutes(1));
    call.queues[0].name = queue;
    model::AckItem ack;
    ack.token = Lease(std::move(call)).tasks.at(0).token;
    std::vector<model::SettleItem> items;
    items.emplace_back(std::move(ack));
    return items;
  }

  // Notes who was answered.
  template <typename Answer>
  broker::Callback<Answer> Note(const std::string& name) {
    return [this, name](const absl::StatusOr<Answer>& answer) {
      base::MutexLock lock(mutex_);
      answered_.push_back(answer.ok() ? name : answer.status().ToString());
      changed_.NotifyAll();
    };
  }
  // How many were answered before the modest one.
  std::ptrdiff_t BeforeTheModest() {
    base::MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const auto modest = [this] { return std::ranges::find(answered_, "modest"); };
    while (modest() == answered_.end() && changed_.WaitUntil(mutex_, deadline)) continue;
    return modest() - answered_.begin();
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<std::string> answered_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(BatchPartiesTest, EnqueuesWaitForOneBatchOfAnother) {
  using Answer = std::vector<broker::EnqueueResult>;
  MakeQueues();
  const auto lock = Lock("skiplane.task, skiplane.task_pack");
  for (int i = 0; i < kQueues; ++i) EnqueueInto(Queue(i), "greedy", Note<Answer>(Queue(i)));
  EnqueueInto("modest", "modest", Note<Answer>("modest"));
  Required(lock->RunText("COMMIT"));
  EXPECT_LE(BeforeTheModest(), 2);
}

// It waited for the turn of the first call's party, behind all that one's other queues.
TEST_F(BatchPartiesTest, ABatchOfSeveralTakesTheTurnThatComesFirst) {
  using Answer = std::vector<broker::EnqueueResult>;
  MakeQueues();
  const auto lock = Lock("skiplane.task, skiplane.task_pack");
  for (int i = 0; i < kQueues; ++i) EnqueueInto(Queue(i), "greedy", Note<Answer>(Queue(i)));
  EnqueueInto("modest", "greedy", Note<Answer>("greedy in a shared queue"));
  EnqueueInto("modest", "modest", Note<Answer>("modest"));
  Required(lock->RunText("COMMIT"));
  EXPECT_LE(BeforeTheModest(), 3);
}

// Looks at what is not known have a part of the connections: one of them held it while it stood
// behind all batches of its party.
TEST_F(BatchPartiesTest, ALookForAQueueStandsBehindNoBatchesOfItsParty) {
  using Answer = std::vector<broker::EnqueueResult>;
  MakeQueues();
  const auto lock = Lock("skiplane.task, skiplane.task_pack");
  for (int i = 0; i < kQueues; ++i) EnqueueInto(Queue(i), "greedy", Note<Answer>(Queue(i)));
  EnqueueInto("new-greedy", "greedy", Note<Answer>("new-greedy"));
  EnqueueInto("new-modest", "modest", Note<Answer>("modest"));
  Required(lock->RunText("COMMIT"));
  EXPECT_LE(BeforeTheModest(), 5);
}

TEST_F(BatchPartiesTest, SettlementsWaitForOneBatchOfAnother) {
  using Answer = std::vector<model::SettleResult>;
  MakeQueues();
  std::vector<std::vector<model::SettleItem>> acks;
  for (int i = 0; i < kQueues; ++i) acks.push_back(AckOfOneIn(Queue(i)));
  std::vector<model::SettleItem> modest = AckOfOneIn("modest");
  const auto lock = Lock("skiplane.task, skiplane.task_pack");
  for (int i = 0; i < kQueues; ++i) {
    broker().Settle(std::move(acks[static_cast<size_t>(i)]), "greedy", Note<Answer>(Queue(i)));
  }
  broker().Settle(std::move(modest), "modest", Note<Answer>("modest"));
  Required(lock->RunText("COMMIT"));
  EXPECT_LE(BeforeTheModest(), 2);
}

TEST_F(BatchPartiesTest, LeasesWaitForOneBatchOfAnother) {
  MakeQueues();
  for (int i = 0; i < kQueues; ++i) AckOfOneIn(Queue(i));  // a lease: what is there is known
  AckOfOneIn("modest");
  MakeQueues();
  const auto lock = Lock("skiplane.task, skiplane.task_pack");
  std::vector<std::shared_ptr<broker::PendingLease>> pending;
  const auto lease = [&](const std::string& queue, const std::string& party) {
    broker::LeaseCall call = LeaseOf(absl::StrCat("worker of ", party), 1, absl::Minutes(1));
    call.queues[0].name = queue;
    call.party = party;
    pending.push_back(broker().Lease(std::move(call), Note<broker::LeaseAnswer>(queue)));
  };
  for (int i = 0; i < kQueues; ++i) lease(Queue(i), "greedy");
  lease("modest", "modest");
  Required(lock->RunText("COMMIT"));
  EXPECT_LE(BeforeTheModest(), 3);
}

TEST_F(BatchPartiesTest, ALeaseForSeveralTakesTheTurnThatComesFirst) {
  for (int round = 0; round < 2; ++round) {
    MakeQueues();
    for (int i = 0; i < kQueues; ++i) AckOfOneIn(Queue(i));  // a lease: what is there is known
    AckOfOneIn("modest");
  }
  MakeQueues();
  MakeTask("modest");
  const auto lock = Lock("skiplane.task, skiplane.task_pack");
  std::vector<std::shared_ptr<broker::PendingLease>> pending;
  const auto lease = [&](const std::string& queue, const std::string& party,
                         const std::string& name) {
    broker::LeaseCall call = LeaseOf(absl::StrCat("worker of ", party), 1, absl::Minutes(1));
    call.queues[0].name = queue;
    call.party = party;
    pending.push_back(broker().Lease(std::move(call), Note<broker::LeaseAnswer>(name)));
  };
  for (int i = 0; i < kQueues; ++i) lease(Queue(i), "greedy", Queue(i));
  lease("modest", "greedy", "greedy in a shared queue");
  lease("modest", "modest", "modest");
  Required(lock->RunText("COMMIT"));
  EXPECT_LE(BeforeTheModest(), 5);
}

}  // namespace
}  // namespace skiplane::testing
