#include "gmock/gmock.h"
#include "server/pg/session.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using ParkedTest = BrokerHarness;

constexpr absl::Duration kLong = absl::Seconds(50);

class Parked {
 public:
  Parked(broker::LocalBroker& broker, broker::LeaseCall call)
      : pending_(broker.Lease(std::move(call), later_.done())) {}

  broker::LeaseAnswer Get() {
    auto answer = later_.Get();
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? *std::move(answer) : broker::LeaseAnswer();
  }
  void Cancel() { pending_->Cancel(); }

 private:
  Later<broker::LeaseAnswer> later_;
  std::shared_ptr<broker::PendingLease> pending_;
};

TEST_F(ParkedTest, WithoutAWaitAnEmptyQueueAnswersEmpty) {
  EXPECT_TRUE(Lease(LeaseOf("w")).tasks.empty());
  EXPECT_TRUE(Lease(LeaseOf("w")).tasks.empty());
}

TEST_F(ParkedTest, WakesOnEnqueue) {
  Parked parked(broker(), LeaseOf("w", 1, kLong));
  Enqueue({Payload("x")});
  EXPECT_EQ(parked.Get().tasks.size(), 1u);
}

TEST_F(ParkedTest, WakesOnANackWithoutDelay) {
  Enqueue({Payload("x")});
  const model::LeasedTask task = LeaseOne("w");
  Parked parked(broker(), LeaseOf("other", 1, kLong));
  model::NackItem item;
  item.token = task.token;
  item.retry_delay = absl::ZeroDuration();
  EXPECT_EQ(Nack(item).outcome, model::SettleOutcome::kSettled);
  const broker::LeaseAnswer answer = parked.Get();
  ASSERT_EQ(answer.tasks.size(), 1u);
  EXPECT_EQ(answer.tasks[0].token.attempt, 2);
}

TEST_F(ParkedTest, WakesOnARelease) {
  Enqueue({Payload("x")});
  const model::LeasedTask task = LeaseOne("w");
  Parked parked(broker(), LeaseOf("other", 1, kLong));
  model::NackItem item;
  item.token = task.token;
  item.disposition = model::NackDisposition::kRelease;
  EXPECT_EQ(Nack(item).outcome, model::SettleOutcome::kSettled);
  const broker::LeaseAnswer answer = parked.Get();
  ASSERT_EQ(answer.tasks.size(), 1u);
  EXPECT_EQ(answer.tasks[0].token.attempt, 1);
}

TEST_F(ParkedTest, WakesWhenADelayEnds) {
  Parked parked(broker(), LeaseOf("w", 1, kLong));
  model::NewTask later = Payload("x");
  later.delay = absl::Milliseconds(300);
  Enqueue({later});
  EXPECT_EQ(parked.Get().tasks.size(), 1u);
}

TEST_F(ParkedTest, WakesWhenADelayEndsThatWasThereBefore) {
  model::NewTask later = Payload("x");
  later.delay = absl::Milliseconds(400);
  Enqueue({later});
  Parked parked(broker(), LeaseOf("w", 1, kLong));
  EXPECT_EQ(parked.Get().tasks.size(), 1u);
}

TEST_F(ParkedTest, WakesOnAnEnqueueAtAnotherBroker) {
  const auto other = NewBroker();
  Parked parked(broker(), LeaseOf("w", 1, kLong));
  Later<std::vector<broker::EnqueueResult>> done;
  other->Enqueue({"q", {Payload("x")}, ""}, done.done());
  ASSERT_THAT(done.Get(), IsOk());
  EXPECT_EQ(parked.Get().tasks.size(), 1u);
}

// A row that no broker was told of: only the safety poll finds it.
TEST_F(ParkedTest, WakesOnATaskThatNobodyWasNotifiedOf) {
  Enqueue({Payload("x")});
  EXPECT_EQ(Ack(LeaseOne("w").token), model::SettleOutcome::kSettled);
  Parked parked(broker(), LeaseOf("w", 1, kLong));
  Sql("INSERT INTO skiplane.task (lane, id, schedule_time, create_time, max_attempts, priority, "
      "payload) "
      "SELECT lane, 1, now(), now(), 10, 5, 'x' FROM skiplane.queue_lane");
  EXPECT_EQ(parked.Get().tasks.size(), 1u);
}

TEST_F(ParkedTest, WakesWhenItsQueueIsResumed) {
  Enqueue({Payload("x")});
  Later<model::Queue> paused;
  broker().PauseQueue({"q", model::PauseMode::kLease, "why", Origin()}, paused.done());
  ASSERT_THAT(paused.Get(), IsOk());
  const broker::LeaseAnswer now = Lease(LeaseOf("w"));
  EXPECT_TRUE(now.tasks.empty());
  EXPECT_THAT(now.paused_queues, ::testing::ElementsAre("q"));
  Parked parked(broker(), LeaseOf("w", 1, kLong));
  Later<model::Queue> resumed;
  broker().PauseQueue({"q", model::PauseMode::kNone, "", Origin()}, resumed.done());
  ASSERT_THAT(resumed.Get(), IsOk());
  EXPECT_EQ(parked.Get().tasks.size(), 1u);
}

TEST_F(ParkedTest, ADeadlineAnswersEmptyAndLeavesNothing) {
  EXPECT_TRUE(Lease(LeaseOf("w", 1, absl::Milliseconds(200))).tasks.empty());
  Enqueue({Payload("x")});
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 1 AND attempt = 0"), 1);
}

TEST_F(ParkedTest, ACancelledCallGetsNothing) {
  Parked gone(broker(), LeaseOf("gone", 1, kLong));
  gone.Cancel();
  EXPECT_TRUE(gone.Get().tasks.empty());
  Enqueue({Payload("x")});
  EXPECT_EQ(LeaseOne("w").token.attempt, 1);
}

// Whether the cancellation comes before, during or after the statement, the task ends with "w", as
// its first attempt.
TEST_F(ParkedTest, ACancelThatRacesALeaseLeavesNoLeaseBehind) {
  for (int i = 0; i < 50; ++i) {
    Parked gone(broker(), LeaseOf("gone", 1, kLong));
    Later<std::vector<broker::EnqueueResult>> enqueued;
    broker().Enqueue({"q", {Payload("x")}, ""}, enqueued.done());
    gone.Cancel();
    ASSERT_THAT(enqueued.Get(), IsOk());
    const broker::LeaseAnswer answer = gone.Get();
    if (!answer.tasks.empty()) broker().HandBack(answer);
    const model::LeasedTask task = LeaseOne("w");
    EXPECT_EQ(task.token.attempt, 1);
    EXPECT_EQ(Ack(task.token), model::SettleOutcome::kSettled);
  }
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
}

TEST_F(ParkedTest, ADrainAnswersParkedCallsAndRefusesNewOnes) {
  Enqueue({Payload("x")});
  EXPECT_EQ(Ack(LeaseOne("w").token), model::SettleOutcome::kSettled);
  Parked parked(broker(), LeaseOf("w", 1, kLong));  // at once in its list: the queue is known
  broker().BeginDrain();
  EXPECT_TRUE(parked.Get().tasks.empty());
  Later<broker::LeaseAnswer> later;
  const auto pending = broker().Lease(LeaseOf("w", 1, kLong), later.done());
  EXPECT_THAT(later.Get(), ReasonIs("BROKER_DRAINING"));
}

// A worker that ends when there is nothing more to do would end too early.
TEST_F(ParkedTest, ADrainTellsNobodyThatThereIsNothingBeforeSomebodyLooked) {
  constexpr int kCalls = 10;
  Enqueue(std::vector<model::NewTask>(kCalls, Payload("x")));
  const auto blocker = pg::Session::Open({.uri = database_.uri()}, nullptr);
  ASSERT_THAT(blocker, IsOk());
  ASSERT_THAT((*blocker)->RunText("BEGIN; LOCK TABLE skiplane.task IN ACCESS EXCLUSIVE MODE"),
              IsOk());
  std::vector<Later<broker::LeaseAnswer>> answers(kCalls);
  std::vector<std::shared_ptr<broker::PendingLease>> pending;
  for (Later<broker::LeaseAnswer>& answer : answers) {
    pending.push_back(broker().Lease(LeaseOf("w"), answer.done()));
  }
  broker().BeginDrain();
  ASSERT_THAT((*blocker)->RunText("ROLLBACK"), IsOk());
  int refused = 0;
  for (Later<broker::LeaseAnswer>& answer : answers) {
    const auto lease = answer.Get();
    if (lease.ok()) {
      EXPECT_EQ(lease->tasks.size(), 1u);
    } else {
      EXPECT_THAT(lease, ReasonIs("BROKER_DRAINING"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_F(ParkedTest, SeveralQueuesAreServedInStrictOrder) {
  for (const char* name : {"a", "b"}) {
    Later<std::vector<broker::EnqueueResult>> done;
    broker().Enqueue({name, {Payload(name), Payload(name)}, ""}, done.done());
    ASSERT_THAT(done.Get(), IsOk());
  }
  broker::LeaseCall call = LeaseOf("w", 1, kLong);
  call.queues = {{"b", 1, ""}, {"a", 1, ""}};
  call.strict_order = true;
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) order.push_back(Lease(call).tasks.at(0).queue);
  EXPECT_THAT(order, ::testing::ElementsAre("b", "b", "a", "a"));
}

TEST_F(ParkedTest, ACallOnTwoQueuesWakesOnEither) {
  broker::LeaseCall call = LeaseOf("w", 1, kLong);
  call.queues = {{"a", 1, ""}, {"b", 1, ""}};
  for (const char* name : {"a", "b", "a"}) {
    Parked parked(broker(), call);
    Later<std::vector<broker::EnqueueResult>> done;
    broker().Enqueue({name, {Payload(name)}, ""}, done.done());
    ASSERT_THAT(done.Get(), IsOk());
    const broker::LeaseAnswer answer = parked.Get();
    ASSERT_EQ(answer.tasks.size(), 1u);
    EXPECT_EQ(answer.tasks[0].queue, name);
  }
}

// The first queue once blocked the second while it was paused. One connection runs the calls in
// their order: both queues get tasks, then the first is paused before it could serve the call. A
// lock holds the first of them until all have been made.
TEST_F(ParkedTest, APausedQueueDoesNotKeepACallFromTheNextOne) {
  broker_ = NewBroker(true, /*connections=*/1);
  WaitForListeners(1);
  broker::LeaseCall call = LeaseOf("w", 1);
  call.queues = {{"a", 1, ""}, {"b", 1, ""}};
  call.strict_order = true;
  EXPECT_TRUE(Lease(call).tasks.empty()) << "now both are known to be empty";
  call.wait = absl::Seconds(20);
  Parked parked(broker(), call);
  const auto blocker = pg::Session::Open({.uri = database_.uri()}, nullptr);
  ASSERT_THAT(blocker, IsOk());
  ASSERT_THAT((*blocker)->RunText("BEGIN; LOCK TABLE skiplane.task IN SHARE MODE"), IsOk());
  Later<std::vector<broker::EnqueueResult>> first, second;
  Later<model::Queue> paused;
  broker().Enqueue({"a", {Payload("a")}, ""}, first.done());
  broker().Enqueue({"b", {Payload("b")}, ""}, second.done());
  broker().PauseQueue({"a", model::PauseMode::kLease, "why", Origin()}, paused.done());
  ASSERT_THAT((*blocker)->RunText("ROLLBACK"), IsOk());
  const broker::LeaseAnswer answer = parked.Get();
  ASSERT_EQ(answer.tasks.size(), 1u);
  EXPECT_EQ(answer.tasks[0].queue, "b");
}

// Its lease began with the acks, in their queue, and then once never looked at the next one.
TEST_F(ParkedTest, AnAckThatLeasesNothingFromItsQueueIsServedByTheNextOne) {
  for (const char* name : {"a", "b"}) {
    Later<std::vector<broker::EnqueueResult>> done;
    broker().Enqueue({name, {Payload(name)}, ""}, done.done());
    ASSERT_THAT(done.Get(), IsOk());
  }
  broker::SettleAndLeaseCall call;
  call.lease = LeaseOf("w", 1, absl::Seconds(20));
  call.lease.queues = {{"a", 1, ""}};
  call.items.emplace_back(model::AckItem{Lease(call.lease).tasks.at(0).token, nullptr});
  call.lease.queues.push_back({"b", 1, ""});
  call.lease.strict_order = true;
  Later<broker::SettleAndLeaseAnswer> later;
  const auto pending = broker().SettleAndLease(std::move(call), later.done());
  const auto answer = later.Get();
  ASSERT_THAT(answer, IsOk());
  ASSERT_TRUE(answer->lease.has_value());
  ASSERT_EQ(answer->lease->tasks.size(), 1u);
  EXPECT_EQ(answer->lease->tasks[0].queue, "b");
}

// A poll that does not wait arms no timer, and for five seconds once believed the lane to be empty.
TEST_F(ParkedTest, APollThatDoesNotWaitFindsATaskThatIsDue) {
  EXPECT_TRUE(Lease(LeaseOf("w")).tasks.empty());
  model::NewTask later = Payload("x");
  later.delay = absl::Milliseconds(200);
  Enqueue({later});
  const size_t early = Lease(LeaseOf("w")).tasks.size();  // 0, unless this process was held up
  const std::string is_due = "SELECT max(schedule_time) + interval '1 s' < now() "
                             "FROM skiplane.task";
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (Sql(is_due) != "t") ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  EXPECT_EQ(early + Lease(LeaseOf("w")).tasks.size(), 1u);
}

TEST_F(ParkedTest, AStopWithoutADrainAnswersWhoWaits) {
  EXPECT_TRUE(Lease(LeaseOf("w")).tasks.empty());
  Parked parked(broker(), LeaseOf("w", 1, kLong));
  broker().Stop();
  EXPECT_TRUE(parked.Get().tasks.empty());
}

}  // namespace
}  // namespace skiplane::testing
