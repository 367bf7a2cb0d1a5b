#include <chrono>
#include <set>

#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

// Backends are ended under the broker's feet, again and again, while it works. An answer may be
// lost with its connection; nothing that was answered may be lost, and nothing done twice.
class LostReplyTest : public BrokerHarness {
 protected:
  void EndBackends() {
    Sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  }

  // Repeats the ack until it is answered; a repeat finds it settled.
  void SettleAck(const model::LeaseToken& token) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < give_up) {
      const auto outcomes = AckTokens(broker(), {token});
      if (!outcomes.ok()) continue;
      EXPECT_THAT(outcomes->front(), ::testing::AnyOf(model::SettleOutcome::kSettled,
                                                      model::SettleOutcome::kAlreadySettled));
      return;
    }
    ADD_FAILURE() << "the ack was never answered";
  }
};

TEST_F(LostReplyTest, AnEnqueueWithARequestIdIsDoneOnceWhateverHappens) {
  constexpr int kCalls = 60;
  std::vector<Later<std::vector<broker::EnqueueResult>>> answers(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    broker().Enqueue({"q", {Payload("x")}, "r" + std::to_string(i)},
                     answers[static_cast<size_t>(i)].done());
    if (i % 10 == 0) EndBackends();
  }
  int answered = 0;
  for (int i = 0; i < kCalls; ++i) {
    auto answer = answers[static_cast<size_t>(i)].Get();
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!answer.ok() && std::chrono::steady_clock::now() < give_up) {
      ASSERT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
      Later<std::vector<broker::EnqueueResult>> again;
      broker().Enqueue({"q", {Payload("x")}, "r" + std::to_string(i)}, again.done());
      answer = again.Get();
    }
    ASSERT_THAT(answer, IsOk());
    ++answered;
  }
  EXPECT_EQ(answered, kCalls);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), kCalls);
}

// A look at an empty lane that lost its connection was once told to the caller as it was.
TEST_F(LostReplyTest, ALeaseIsNeverToldThatItsOutcomeIsUnknown) {
  for (int round = 0; round < 150; ++round) {
    Later<broker::LeaseAnswer> answers[4];
    std::vector<std::shared_ptr<broker::PendingLease>> pending;
    for (auto& answer : answers) pending.push_back(broker().Lease(LeaseOf("w"), answer.done()));
    EndBackends();
    for (auto& answer : answers) {
      const auto result = answer.Get();
      ASSERT_TRUE(result.ok() || absl::IsUnavailable(result.status())) << result.status();
    }
  }
}

TEST_F(LostReplyTest, APlainEnqueueIsNeverAnsweredUnavailableAfterItWasCommitted) {
  Enqueue({Payload("warm")});
  int ok = 0;
  int unknown = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<Later<std::vector<broker::EnqueueResult>>> answers(5);
    for (auto& answer : answers) broker().Enqueue({"q", {Payload("x")}, ""}, answer.done());
    EndBackends();
    for (auto& answer : answers) {
      auto result = answer.Get();
      if (result.ok()) ++ok;
      if (absl::IsUnknown(result.status())) ++unknown;
    }
  }
  const int64_t made = Number("SELECT count(*) - 1 FROM skiplane.task");
  EXPECT_GE(made, ok);
  EXPECT_LE(made, ok + unknown);
}

TEST_F(LostReplyTest, WhatWasLeasedComesToItsCallerOrGoesBack) {
  constexpr int kTasks = 300;
  Enqueue(std::vector<model::NewTask>(kTasks, Payload("x")));
  std::set<int64_t> done;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (int round = 0; done.size() < kTasks; ++round) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    Later<broker::LeaseAnswer> later;
    const auto pending = broker().Lease(LeaseOf("w", 10, absl::Seconds(20)), later.done());
    if (round % 3 == 0 && round < 60) EndBackends();
    auto answer = later.Get();
    if (!answer.ok()) continue;
    for (const model::LeasedTask& task : answer->tasks) {
      EXPECT_EQ(task.token.attempt, 1);
      SettleAck(task.token);
      EXPECT_TRUE(done.insert(task.token.task.id).second) << "leased twice";
    }
  }
  EXPECT_EQ(done.size(), static_cast<size_t>(kTasks));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
}

}  // namespace
}  // namespace skiplane::testing
