// Calls that wait for the ends of tasks.
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/model/notification.h"
#include "server/pg/connections/listener.h"
#include "server/store/peers.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using model::TaskState;

// Nobody finds an end by a look of its own.
constexpr broker::AwaitTimes kOnlyWhenTold{std::chrono::hours(1), std::chrono::hours(1)};

class TaskAwaitTest : public BrokerHarness {
 protected:
  std::shared_ptr<broker::PendingTask> Await(broker::Broker& at, const model::TaskId& id,
                                             Later<broker::TaskDetails>& later,
                                             absl::Duration wait = absl::Minutes(1)) {
    broker::GetTaskCall call;
    call.id = id;
    call.wait = wait;
    return at.AsOperator().GetTask(std::move(call), later.done());
  }

  // Of all brokers, which share their metrics.
  void WaitForAwaiting(int64_t calls) const { WaitForGauge("awaiting_calls", calls); }

  void WaitForGauge(absl::string_view name, int64_t value) const {
    const std::string line = absl::StrCat("\nskiplane_", name, " ", value, "\n");
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!absl::StrContains(metrics_.Text(), line)) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up) << line;
    }
  }

  void WaitForReads(int64_t runs) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (RunsOf("task_get") < runs) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  }

  // As another broker would.
  void TellOfEnd(const model::TaskId& task) const {
    Sql(absl::StrCat("SELECT pg_notify('", store::kNotificationChannel, "', '",
                     model::FormatTaskNotifications(model::NotificationKind::kEnded, "other",
                                                    task.lane, {task.id})[0],
                     "')"));
  }

  static TaskState StateOf(Later<broker::TaskDetails>& later) {
    const auto details = later.Get();
    EXPECT_THAT(details, IsOk());
    return details.ok() ? details->task.state : TaskState::kScheduled;
  }
};

TEST_F(TaskAwaitTest, ManyAreAnsweredByTheCommitThatEndsTheirTasks) {
  broker().Stop();
  broker_ = NewBroker(true, 4, kOnlyWhenTold);
  constexpr int kTasks = 200;
  const auto made = Enqueue(std::vector<model::NewTask>(kTasks));
  std::vector<Later<broker::TaskDetails>> answers(kTasks);
  for (int i = 0; i < kTasks; ++i) Await(broker(), made[i].id, answers[i]);
  WaitForAwaiting(kTasks);
  std::vector<model::LeaseToken> tokens;
  for (const model::LeasedTask& task : Lease(LeaseOf("w", kTasks)).tasks) {
    tokens.push_back(task.token);
  }
  ASSERT_EQ(tokens.size(), static_cast<size_t>(kTasks));
  ASSERT_THAT(AckTokens(broker(), tokens), IsOk());
  for (auto& answer : answers) EXPECT_EQ(StateOf(answer), TaskState::kSucceeded);
  WaitForAwaiting(0);
}

TEST_F(TaskAwaitTest, WhoHasGoneIsForgotten) {
  const auto made = Enqueue({Payload("x")});
  Later<broker::TaskDetails> later;
  const auto call = Await(broker(), made[0].id, later);
  WaitForAwaiting(1);
  call->Cancel();
  EXPECT_THAT(later.Get(), StatusIs(absl::StatusCode::kCancelled));
  WaitForAwaiting(0);
  call->Cancel();
}

TEST_F(TaskAwaitTest, ADrainAnswersWhoWaitsAndLetsNobodyWait) {
  const auto made = Enqueue({Payload("x")});
  Later<broker::TaskDetails> before, after;
  Await(broker(), made[0].id, before);
  WaitForAwaiting(1);
  broker().BeginDrain();
  Await(broker(), made[0].id, after);
  EXPECT_EQ(StateOf(before), TaskState::kReady);
  EXPECT_EQ(StateOf(after), TaskState::kReady);
}

TEST_F(TaskAwaitTest, AStopAnswersWhoWaits) {
  const auto made = Enqueue({Payload("x")});
  Later<broker::TaskDetails> later;
  Await(broker(), made[0].id, later);
  WaitForAwaiting(1);
  broker().Stop();
  EXPECT_EQ(StateOf(later), TaskState::kReady);
}

TEST_F(TaskAwaitTest, OneStatementFindsTheEndsThatNobodyTold) {
  constexpr int kTasks = 50;
  const auto made = Enqueue(std::vector<model::NewTask>(kTasks));
  std::vector<Later<broker::TaskDetails>> answers(kTasks);
  for (int i = 0; i < kTasks; ++i) Await(broker(), made[i].id, answers[i]);
  WaitForAwaiting(kTasks);
  WaitForReads(kTasks);
  const int64_t passes = RunsOf("task_known");
  Sql("DELETE FROM skiplane.task_pack");
  for (auto& answer : answers) EXPECT_THAT(answer.Get(), ReasonIs("TASK_NOT_FOUND"));
  EXPECT_EQ(RunsOf("task_get"), 2 * kTasks);
  EXPECT_LT(RunsOf("task_known"), passes + kTasks);
}

// The read of the task that may have ended fails: the caller waits on.
TEST_F(TaskAwaitTest, ALookThatFailsDoesNotEndTheWait) {
  const auto made = Enqueue({Payload("x")});
  Later<broker::TaskDetails> later;
  Await(broker(), made[0].id, later);
  WaitForReads(1);
  Sql("ALTER TABLE skiplane.history RENAME TO history_away");
  TellOfEnd(made[0].id);
  WaitForReads(2);
  Sql("ALTER TABLE skiplane.history_away RENAME TO history");
  EXPECT_FALSE(later.is_there());
  ASSERT_EQ(Ack(LeaseOne("w").token), model::SettleOutcome::kSettled);
  EXPECT_EQ(StateOf(later), TaskState::kSucceeded);
}

class PeerAwaitTest : public TaskAwaitTest {
 protected:
  PeerAwaitTest() {
    broker().Stop();
    broker_ = NewBroker(true, 4, kOnlyWhenTold);
  }
  ~PeerAwaitTest() override {
    if (other_ != nullptr) other_->Stop();
  }

  void StartOther() { other_ = NewBroker(true, 4, kOnlyWhenTold); }

  void AckAtOther() {
    Later<broker::LeaseAnswer> leased;
    const auto lease = other_->Lease(LeaseOf("w"), leased.done());
    const auto answer = leased.Get();
    ASSERT_THAT(answer, IsOk());
    ASSERT_EQ(answer->tasks.size(), 1u);
    ASSERT_THAT(AckTokens(*other_, {answer->tasks[0].token}), IsOk());
  }

  std::vector<int64_t> ToldToHaveEnded() {
    base::MutexLock lock(mutex_);
    return ended_;
  }

  int Announcements() {
    base::MutexLock lock(mutex_);
    return announcements_;
  }

 private:
  void Hear(absl::string_view payload) {
    const auto notification = model::ParseNotification(payload);
    if (!notification) return;
    base::MutexLock lock(mutex_);
    if (notification->kind == model::NotificationKind::kAwaited) ++announcements_;
    if (notification->kind != model::NotificationKind::kEnded) return;
    ended_.insert(ended_.end(), notification->tasks.begin(), notification->tasks.end());
  }

  std::unique_ptr<broker::LocalBroker> other_;
  base::Mutex mutex_;
  std::vector<int64_t> ended_ ABSL_GUARDED_BY(mutex_);
  int announcements_ ABSL_GUARDED_BY(mutex_) = 0;
  pg::ConnectOptions options_{.uri = database_.uri()};
  pg::Listener listener_{options_, store::kNotificationChannel,
                         [this](absl::string_view payload) { Hear(payload); }, [](bool) {}};
};

TEST_F(PeerAwaitTest, TheOtherBrokerTellsOfTheEndOfATaskThatIsAwaitedAndOfNoOther) {
  StartOther();
  WaitForListeners(3);
  const auto made = Enqueue({Payload("nobody's"), Payload("awaited")});
  Later<broker::TaskDetails> later;
  Await(broker(), made[1].id, later);
  WaitForGauge("awaited_by_peers", 1);
  AckAtOther();
  AckAtOther();
  EXPECT_EQ(StateOf(later), TaskState::kSucceeded);
  // Its notification was sent before the caller heard of the end, but comes on a connection of its
  // own.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (ToldToHaveEnded().empty()) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  EXPECT_THAT(ToldToHaveEnded(), ::testing::ElementsAre(made[1].id.id));
  WaitForGauge("awaited_by_peers", 0);
}

TEST_F(PeerAwaitTest, ABrokerThatComesLaterIsToldWhatIsAwaited) {
  const auto made = Enqueue({Payload("x")});
  Later<broker::TaskDetails> later;
  Await(broker(), made[0].id, later);
  WaitForReads(1);
  StartOther();
  WaitForGauge("awaited_by_peers", 1);
  AckAtOther();
  EXPECT_EQ(StateOf(later), TaskState::kSucceeded);
}

// A broker that started while this one heard nothing was not told: its ends were found seconds
// late.
TEST_F(PeerAwaitTest, WhatIsAwaitedIsToldAgainWhenTheListenerWasAway) {
  Sql("INSERT INTO skiplane.broker (id, name, expire_time) "
      "VALUES (gen_random_uuid(), 'silent', now() + interval '1 hour')");
  broker().Stop();
  broker_ = NewBroker(true, 4, kOnlyWhenTold);
  WaitForListeners(2);
  const auto made = Enqueue({Payload("x")});
  Later<broker::TaskDetails> later;
  Await(broker(), made[0].id, later);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (Announcements() < 1) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  while (Announcements() < 2) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    // The test's own one is among them: what is told while that is away is told after the next.
    Sql("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND query LIKE 'LISTEN%'");
    WaitForListeners(2);
  }
  ASSERT_EQ(Ack(LeaseOne("w").token), model::SettleOutcome::kSettled);
  EXPECT_EQ(StateOf(later), TaskState::kSucceeded);
}

}  // namespace
}  // namespace skiplane::testing
