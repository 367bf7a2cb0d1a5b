#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using LeaseTest = BrokerHarness;
using ::testing::ElementsAre;

std::vector<std::string> Payloads(const broker::LeaseAnswer& answer) {
  std::vector<std::string> payloads;
  for (const model::LeasedTask& task : answer.tasks) payloads.push_back(task.payload);
  return payloads;
}

model::NewTask Urgent(const std::string& payload, int16_t priority) {
  model::NewTask task = Payload(payload);
  task.priority = priority;
  return task;
}

TEST_F(LeaseTest, APriorityOvertakes) {
  Enqueue({Payload("first"), Payload("second")});
  Enqueue({Urgent("urgent", -5), Urgent("later", 7)});
  EXPECT_THAT(Payloads(Lease(LeaseOf("w", 10, absl::Seconds(30)))),
              ElementsAre("urgent", "first", "second", "later"));
}

TEST_F(LeaseTest, APriorityThatComesAfterTheBoundWasRaisedOvertakes) {
  Enqueue(std::vector<model::NewTask>(20, Payload("old")));
  EXPECT_EQ(Lease(LeaseOf("w", 5, absl::Seconds(30))).tasks.size(), 5u);
  Enqueue({Urgent("urgent", -1)});
  EXPECT_THAT(Payloads(Lease(LeaseOf("w", 1, absl::Seconds(30)))), ElementsAre("urgent"));
}

TEST_F(LeaseTest, CallersWithoutAWorkerAreSessionsOfTheirOwn) {
  Enqueue({Payload("a"), Payload("b")});
  const model::LeasedTask one = LeaseOne("");
  const model::LeasedTask two = LeaseOne("");
  EXPECT_NE(one.token.session, two.token.session);
  EXPECT_EQ(Ack(one.token), model::SettleOutcome::kSettled);
}

TEST_F(LeaseTest, AWorkersLeasesShareItsSession) {
  Enqueue({Payload("a"), Payload("b")});
  EXPECT_EQ(LeaseOne("w").token.session, LeaseOne("w").token.session);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.worker_session"), 1);
}

TEST_F(LeaseTest, BytesLimitACallButNeverBelowOneTask) {
  Enqueue({Payload(std::string(600, 'a')), Payload(std::string(600, 'b')), Payload("c")});
  broker::LeaseCall call = LeaseOf("w", 10, absl::Seconds(30));
  call.max_bytes = 1000;
  EXPECT_EQ(Lease(call).tasks.size(), 1u);
  call.max_bytes = 10;
  EXPECT_EQ(Lease(call).tasks.size(), 1u);
  EXPECT_EQ(Lease(call).tasks.size(), 1u);
}

TEST_F(LeaseTest, ARepeatWithTheRequestIdGetsTheSameLeases) {
  Enqueue({Payload("a"), Payload("b"), Payload("c")});
  broker::LeaseCall call = LeaseOf("w", 2, absl::Seconds(30));
  call.request_id = "r";
  const broker::LeaseAnswer first = Lease(call);
  const broker::LeaseAnswer again = Lease(call);
  ASSERT_EQ(first.tasks.size(), 2u);
  ASSERT_EQ(again.tasks.size(), 2u);
  EXPECT_EQ(again.tasks[0].token, first.tasks[0].token);
  EXPECT_EQ(again.tasks[1].payload, first.tasks[1].payload);
  EXPECT_EQ(Ack(first.tasks[0].token), model::SettleOutcome::kSettled);
  EXPECT_EQ(Lease(call).tasks.size(), 1u);  // those that live
  const auto other = NewBroker();
  Later<broker::LeaseAnswer> there;
  const auto pending = other->Lease(call, there.done());
  auto answer = there.Get();
  ASSERT_THAT(answer, IsOk());
  ASSERT_EQ(answer->tasks.size(), 1u);
  EXPECT_EQ(answer->tasks[0].token, first.tasks[1].token);
}

TEST_F(LeaseTest, AVanishedCallerWithARequestIdFindsItsLeases) {
  broker::LeaseCall call = LeaseOf("w", 1, absl::Seconds(50));
  call.request_id = "r";
  Later<broker::LeaseAnswer> gone;
  const auto pending = broker().Lease(call, gone.done());
  Enqueue({Payload("x")});
  pending->Cancel();
  ASSERT_THAT(gone.Get(), IsOk());
  EXPECT_THAT(Payloads(Lease(call)), ElementsAre("x"));
  EXPECT_EQ(Number("SELECT max(attempt) FROM skiplane.task"), 1);
}

TEST_F(LeaseTest, ALeaseMovesALivingSessionAheadEvenIfItGetsNothing) {
  Enqueue({Payload("x")});
  broker::LeaseCall call = LeaseOf("w", 1, absl::Seconds(30));
  call.lease_duration = absl::Seconds(30);
  ASSERT_EQ(Lease(call).tasks.size(), 1u);
  call.wait = absl::ZeroDuration();
  call.lease_duration = absl::Hours(1);
  EXPECT_TRUE(Lease(call).tasks.empty());
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const std::string is_moved =
      "SELECT expire_time > now() + interval '50 minutes' FROM skiplane.worker_session";
  while (Sql(is_moved) != "t") ASSERT_LT(std::chrono::steady_clock::now(), give_up);
}

// The promise that everything stands on: 64 workers at two brokers, no task leased twice.
TEST_F(LeaseTest, TwoBrokersOnOneQueueNeverLeaseATaskTwice) {
  constexpr int kTasks = 20000;
  constexpr int kWorkers = 64;
  for (int i = 0; i < kTasks / 1000; ++i) Enqueue(std::vector<model::NewTask>(1000, Payload("x")));
  const auto other = NewBroker();
  std::atomic<int> left = kTasks;
  base::Mutex mutex;
  std::map<int64_t, int> leased;
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      broker::LocalBroker& mine = w % 2 == 0 ? broker() : *other;
      while (left > 0) {
        Later<broker::LeaseAnswer> later;
        const auto pending = mine.Lease(
            LeaseOf("w" + std::to_string(w), 1 + w % 40, absl::Milliseconds(200)), later.done());
        auto answer = later.Get();
        if (!answer.ok() || answer->tasks.empty()) continue;
        std::vector<model::LeaseToken> tokens;
        for (const model::LeasedTask& task : answer->tasks) tokens.push_back(task.token);
        {
          base::MutexLock lock(mutex);
          for (const model::LeaseToken& token : tokens) ++leased[token.task.id];
        }
        const auto outcomes = AckTokens(mine, tokens);
        if (outcomes.ok()) left -= static_cast<int>(outcomes->size());
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(leased.size(), static_cast<size_t>(kTasks));
  for (const auto& [id, times] : leased) ASSERT_EQ(times, 1) << id;
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_pack"), 0);
  EXPECT_EQ(Number("SELECT (SELECT count(*) FROM skiplane.history WHERE outcome = 1) +"
                   " (SELECT count(*) FROM skiplane.packed_attempt WHERE outcome = 1)"),
            kTasks);
}

}  // namespace
}  // namespace skiplane::testing
