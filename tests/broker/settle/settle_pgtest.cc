#include "gmock/gmock.h"
#include "server/base/reason.h"
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

// Each once made the broker read all queues again.
TEST_F(SettleTest, TokensOfLanesThatNobodyHasAreCheap) {
  constexpr int kForged = 200;
  Enqueue({Payload("x")});
  model::LeaseToken token = LeaseOne("w").token;
  const int64_t before = RunsOf("queue_list");
  for (int i = 0; i < kForged; ++i) {
    token.task.lane = 1000000 + i;
    EXPECT_EQ(Ack(token), SettleOutcome::kNotFound);
  }
  EXPECT_LT(RunsOf("queue_list") - before, kForged / 2) << "it is also read every few seconds";
}

TEST_F(SettleTest, AQueueThatWasMadeElsewhereJustNowIsKnown) {
  const auto other = NewBroker();
  Later<std::vector<broker::EnqueueResult>> enqueued;
  other->Enqueue({"new", {Payload("x")}, ""}, enqueued.done());
  ASSERT_THAT(enqueued.Get(), IsOk());
  broker::LeaseCall call = LeaseOf("w", 1, absl::Seconds(30));
  call.queues = {{"new", 1, ""}};
  Later<broker::LeaseAnswer> leased;
  const auto pending = other->Lease(call, leased.done());
  const auto answer = leased.Get();
  ASSERT_THAT(answer, IsOk());
  ASSERT_EQ(answer->tasks.size(), 1u);
  EXPECT_EQ(Ack(answer->tasks[0].token), SettleOutcome::kSettled);
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
    const model::SettleResult result = Nack(NackOf(task.token));
    EXPECT_EQ(result.outcome, SettleOutcome::kSettled);
    EXPECT_EQ(result.state, model::TaskState::kScheduled);
    EXPECT_EQ(Sql("SELECT t.schedule_time - end_time FROM skiplane.task t JOIN skiplane.history h "
                  "ON h.task_id = t.id WHERE h.attempt = t.attempt"),
              attempt == 1 ? "00:05:00" : attempt == 2 ? "00:10:00" : "00:15:00");
    Sql("UPDATE skiplane.task SET schedule_time = now()");
  }
}

TEST_F(SettleTest, TheLastAttemptEndsTheTask) {
  model::NewTask task = Payload("precious");
  task.max_attempts = 1;
  task.key = "k";
  Enqueue({task});
  const model::SettleResult result = Nack(NackOf(LeaseOne("w").token));
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

absl::StatusOr<std::vector<model::SettleResult>> SettleAll(broker::Broker& broker,
                                                           std::vector<model::SettleItem> items) {
  Later<std::vector<model::SettleResult>> later;
  broker.Settle(std::move(items), "", later.done());
  return later.Get();
}

TEST_F(SettleTest, OneCallEndsEachAttemptInItsOwnWay) {
  Enqueue({Payload("a"), Payload("b"), Payload("c"), Payload("d"), Payload("e")});
  const auto tasks = Lease(LeaseOf("w", 5, absl::Seconds(30))).tasks;
  ASSERT_EQ(tasks.size(), 5u);
  model::NackItem fail = NackOf(tasks[1].token);
  fail.disposition = model::NackDisposition::kFail;
  model::NackItem release = NackOf(tasks[3].token);
  release.disposition = model::NackDisposition::kRelease;
  // Of two items for one lease the first one counts, of whatever kind it is.
  const auto results = SettleAll(
      broker(), {NackOf(tasks[2].token), model::AckItem{tasks[2].token, nullptr, {}}, fail,
                 model::AckItem{tasks[0].token, nullptr, {}}, release,
                 model::AckItem{tasks[4].token, nullptr, base::InvalidField("result", "no")}});
  ASSERT_THAT(results, IsOk());
  std::vector<std::pair<SettleOutcome, model::TaskState>> answers;
  for (const model::SettleResult& result : *results) {
    answers.emplace_back(result.outcome, result.state);
  }
  using enum model::TaskState;
  EXPECT_THAT(answers, ::testing::ElementsAre(
                           std::pair(SettleOutcome::kSettled, kScheduled),
                           std::pair(SettleOutcome::kLeaseLost, kSucceeded),  // of no meaning
                           std::pair(SettleOutcome::kSettled, kFailed),
                           std::pair(SettleOutcome::kSettled, kSucceeded),
                           std::pair(SettleOutcome::kSettled, kReady),
                           std::pair(SettleOutcome::kRefused, kSucceeded)));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 2"), 1);
}

model::AckItem AckOf(const model::LeaseToken& token, model::AckContinuation continuation) {
  return {token, std::make_shared<model::AckContinuation>(std::move(continuation)), {}};
}

model::AckContinuation GoOnTo(const std::string& stage) {
  model::AckContinuation continuation;
  continuation.next_stage = stage;
  return continuation;
}

model::AckContinuation Then(const std::string& queue, const std::string& payload = "") {
  model::AckContinuation continuation;
  continuation.follow_ups.push_back(Payload(payload));
  continuation.follow_ups.back().queue = queue;
  return continuation;
}

TEST_F(SettleTest, AnItemThatCannotBeLeavesItsNeighboursAndItsLeaseAlone) {
  broker_ = nullptr;
  broker_ = NewBroker(/*create_missing_queues=*/false);
  Sql("INSERT INTO skiplane.queue (name, settings) VALUES ('q', '{}'), ('closed', '{}');"
      "UPDATE skiplane.queue SET pause_mode = 2 WHERE name = 'closed';"
      "INSERT INTO skiplane.queue_lane (queue_id, ordinal) SELECT id, 0 FROM skiplane.queue");
  Enqueue(std::vector<model::NewTask>(6, Payload("x")));
  const auto tasks = Lease(LeaseOf("w", 6, absl::Seconds(30))).tasks;
  ASSERT_EQ(tasks.size(), 6u);
  model::AckItem too_long{tasks[4].token, nullptr, base::InvalidField("result", "is too long")};
  const auto results =
      SettleAll(broker(), {model::AckItem{tasks[0].token, nullptr, {}},
                        AckOf(tasks[1].token, GoOnTo("nowhere")),
                        AckOf(tasks[2].token, Then("missing")),
                        AckOf(tasks[3].token, Then("closed")),
                        too_long,
                        AckOf(tasks[5].token, Then("q"))});
  ASSERT_THAT(results, IsOk());
  std::vector<SettleOutcome> outcomes;
  std::vector<std::string> reasons;
  std::vector<std::string> fields;
  for (const model::SettleResult& result : *results) {
    outcomes.push_back(result.outcome);
    reasons.push_back(base::ReasonOf(result.refusal));
    fields.push_back(base::FieldOf(result.refusal));
  }
  EXPECT_THAT(outcomes, ::testing::ElementsAre(SettleOutcome::kSettled, SettleOutcome::kRefused,
                                               SettleOutcome::kRefused, SettleOutcome::kRefused,
                                               SettleOutcome::kRefused, SettleOutcome::kSettled));
  EXPECT_THAT(reasons, ::testing::ElementsAre("", "INVALID_FIELD", "QUEUE_NOT_FOUND",
                                              "QUEUE_PAUSED", "INVALID_FIELD", ""));
  EXPECT_THAT(fields, ::testing::ElementsAre("", "next_stage", "follow_ups[0].queue",
                                             "follow_ups[0].queue", "result", ""));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 2"), 4);
  for (const int i : {1, 2, 3, 4}) EXPECT_EQ(Ack(tasks[static_cast<size_t>(i)].token),
                                             SettleOutcome::kSettled);
}

TEST_F(SettleTest, ACallWhoseItemsAreAllRefusedIsAnswered) {
  Enqueue({Payload("x")});
  const model::LeaseToken token = LeaseOne("w").token;
  const auto results = SettleAll(
      broker(), {model::AckItem{token, nullptr, base::InvalidField("result", "no")}});
  ASSERT_THAT(results, IsOk());
  EXPECT_EQ(results->front().outcome, SettleOutcome::kRefused);
  model::NackItem item = NackOf(token);
  item.refusal = base::InvalidField("retry_delay", "no");
  const model::SettleResult nacked = Nack(item);
  EXPECT_EQ(nacked.outcome, SettleOutcome::kRefused);
  EXPECT_EQ(base::FieldOf(nacked.refusal), "retry_delay");
  EXPECT_EQ(Ack(token), SettleOutcome::kSettled);
}

TEST_F(SettleTest, ARepeatedAckIsSettledWhateverCouldNotBeAskedForAnyMore) {
  Enqueue({Payload("x"), Payload("y")});
  const auto tasks = Lease(LeaseOf("w", 2, absl::Seconds(30))).tasks;
  const auto ack = [&](size_t i) {
    return SettleAll(broker(), {AckOf(tasks[i].token, GoOnTo("gone"))})->front().outcome;
  };
  EXPECT_EQ(Ack(tasks[0].token), SettleOutcome::kSettled);
  EXPECT_EQ(ack(0), SettleOutcome::kAlreadySettled);
  model::NackItem release = NackOf(tasks[1].token);
  release.disposition = model::NackDisposition::kRelease;
  Nack(release);
  EXPECT_EQ(ack(1), SettleOutcome::kLeaseLost);
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
