#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using SettleTest = BrokerHarness;
using model::SettleOutcome;

model::NackItem NackOf(const model::LeaseToken& token) {
  model::NackItem item;
  item.token = token;
  item.error = {"Oops", "it broke", "oops-1"};
  return item;
}

TEST_F(SettleTest, ARepeatedAckIsAnsweredAsSettled) {
  Enqueue({Payload("x")});
  const model::LeaseToken token = LeaseOne("w").token;
  EXPECT_EQ(Ack(token), SettleOutcome::kSettled);
  EXPECT_EQ(Ack(token), SettleOutcome::kAlreadySettled);
}

TEST_F(SettleTest, OneLeaseTwiceInACallIsSettledOnce) {
  Enqueue({Payload("x")});
  const model::LeaseToken token = LeaseOne("w").token;
  EXPECT_THAT(AckTokens(broker(), {token, token}),
              IsOkAndHolds(::testing::ElementsAre(SettleOutcome::kSettled,
                                                               SettleOutcome::kAlreadySettled)));
}

TEST_F(SettleTest, ALateAckIsRefusedAndChangesNothing) {
  Enqueue({Payload("x")});
  const model::LeaseToken late = LeaseOne("slow").token;
  model::NackItem release = NackOf(late);
  release.disposition = model::NackDisposition::kRelease;
  EXPECT_EQ(Nack(release).outcome, SettleOutcome::kSettled);
  EXPECT_EQ(Ack(late), SettleOutcome::kLeaseLost);  // it waits again
  const model::LeaseToken second = LeaseOne("quick").token;
  const std::string before = Sql("SELECT task::text FROM skiplane.task");
  EXPECT_EQ(Ack(late), SettleOutcome::kLeaseLost);
  EXPECT_EQ(Nack(NackOf(late)).outcome, SettleOutcome::kAlreadySettled);  // by the release
  EXPECT_EQ(Sql("SELECT task::text FROM skiplane.task"), before);
  EXPECT_EQ(Ack(second), SettleOutcome::kSettled);
  EXPECT_EQ(Ack(late), SettleOutcome::kLeaseLost);  // also after the other finished it
}

TEST_F(SettleTest, ATokenOfAnotherSessionHasNoPower) {
  Enqueue({Payload("x")});
  model::LeaseToken forged = LeaseOne("w").token;
  const model::LeaseToken real = forged;
  forged.session = model::NewSessionId();
  EXPECT_EQ(Ack(forged), SettleOutcome::kLeaseLost);
  EXPECT_EQ(Ack(real), SettleOutcome::kSettled);
}

TEST_F(SettleTest, ATokenOfAnUnknownTaskOrLaneIsNotFound) {
  Enqueue({Payload("x")});
  model::LeaseToken token = LeaseOne("w").token;
  token.task.id += 1000000;
  EXPECT_EQ(Ack(token), SettleOutcome::kNotFound);
  token.task.lane += 1000000;
  EXPECT_EQ(Ack(token), SettleOutcome::kNotFound);
}

TEST_F(SettleTest, RetryDelaysAre5And10And15MinutesByTheDatabasesClock) {
  Enqueue({Payload("x")});
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const model::LeasedTask task = LeaseOne("w");
    EXPECT_EQ(task.token.attempt, attempt);
    const model::NackResult result = Nack(NackOf(task.token));
    EXPECT_EQ(result.outcome, SettleOutcome::kSettled);
    EXPECT_EQ(result.state, model::TaskState::kScheduled);
    EXPECT_EQ(Sql("SELECT t.run_at - finished_at FROM skiplane.task t JOIN skiplane.history h "
                  "ON h.task_id = t.id WHERE h.attempt = t.attempt"),
              attempt == 1 ? "00:05:00" : attempt == 2 ? "00:10:00" : "00:15:00");
    Sql("UPDATE skiplane.task SET run_at = now()");
  }
}

TEST_F(SettleTest, TheLastAttemptEndsTheTask) {
  model::NewTask task = Payload("precious");
  task.max_attempts = 1;
  task.key = "k";
  Enqueue({task});
  const model::NackResult result = Nack(NackOf(LeaseOne("w").token));
  EXPECT_EQ(result.state, model::TaskState::kFailed);
  EXPECT_FALSE(result.schedule_time.has_value());
  EXPECT_EQ(Sql("SELECT encode(payload, 'escape') || error_type FROM skiplane.task_failed"),
            "preciousOops");
}

TEST_F(SettleTest, FailEndsTheTaskWhateverAttemptsAreLeft) {
  Enqueue({Payload("x")});
  model::NackItem item = NackOf(LeaseOne("w").token);
  item.disposition = model::NackDisposition::kFail;
  EXPECT_EQ(Nack(item).state, model::TaskState::kFailed);
}

TEST_F(SettleTest, ItemsOfOneCallAreAnsweredInOrder) {
  Enqueue({Payload("a"), Payload("b"), Payload("c")});
  const auto tasks = Lease(LeaseOf("w", 3, absl::Seconds(30))).tasks;
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(Ack(tasks[1].token), SettleOutcome::kSettled);
  model::LeaseToken unknown = tasks[0].token;
  unknown.task.id += 1000000;
  EXPECT_THAT(AckTokens(broker(), {tasks[2].token, unknown, tasks[1].token, tasks[0].token}),
              IsOkAndHolds(::testing::ElementsAre(
                  SettleOutcome::kSettled, SettleOutcome::kNotFound,
                  SettleOutcome::kAlreadySettled, SettleOutcome::kSettled)));
}

TEST_F(SettleTest, AnAckWorksAfterTheRowMoved) {
  Enqueue({Payload("x")});
  const model::LeaseToken token = LeaseOne("w").token;
  Sql("UPDATE skiplane.task SET priority = 3");
  EXPECT_EQ(Ack(token), SettleOutcome::kSettled);
}

TEST_F(SettleTest, LedgerRowsGoWithTheSettlementsAfterThem) {
  for (int i = 0; i < 3; ++i) {
    Enqueue({Payload("x")});
    EXPECT_EQ(Ack(LeaseOne("w").token), SettleOutcome::kSettled);
  }
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger"), 1);
}

}  // namespace
}  // namespace skiplane::testing
