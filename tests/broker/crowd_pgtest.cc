// All verbs at once, from many threads, through two brokers beside upkeep, while their connections
// break: this is where the sanitizer of threads looks. Every task is done, and done once.
#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/upkeep/upkeep.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

constexpr int kTasks = 3000;
constexpr int kTasksPerCall = 10;
constexpr int kProducers = 3;
constexpr int kWorkers = 8;
constexpr int kBreaks = 6;

class CrowdTest : public BrokerHarness {
 protected:
  // Until all is done; no longer than five minutes, which is far too long.
  bool GoesOn() const { return done_ < kTasks && absl::Now() < deadline_; }
  broker::LocalBroker& BrokerOf(int number) { return number % 2 == 0 ? broker() : *other_; }

  void Produce(int number) {
    for (int call = number; call < kTasks / kTasksPerCall; call += kProducers) {
      std::vector<model::NewTask> tasks(kTasksPerCall, Payload("x"));
      tasks.back().delay = absl::Milliseconds(5);
      if (call % 3 == 0) tasks.front().key = absl::StrCat("key", call);
      bool is_written = false;
      while (!is_written && GoesOn()) {
        Later<std::vector<broker::EnqueueResult>> later;
        BrokerOf(call).Enqueue({"q", tasks, absl::StrCat("call", call)}, later.done());
        is_written = later.Get().ok();
      }
    }
  }

  void Work(int number) {
    for (int turn = 0; GoesOn(); ++turn) {
      // Now and then a new session, as of a worker that died and left what it held.
      broker::LeaseCall call = LeaseOf(absl::StrCat("w", number, ".", turn / 20), 1 + turn % 30,
                                       absl::Milliseconds(turn % 100));
      call.lease_duration = absl::Seconds(2);
      broker::LocalBroker& mine = BrokerOf(number);
      Later<broker::LeaseAnswer> later;
      const auto pending = mine.Lease(call, later.done());
      if (turn % 9 == 8) pending->Cancel();
      const auto answer = later.Get();
      if (!answer.ok() || answer->tasks.empty()) continue;
      Beat(mine, call, *answer);
      if (turn % 7 == 3) {
        mine.HandBack(*answer);
      } else if (turn % 7 == 5) {
        Release(mine, *answer);
      } else {
        AckAll(mine, *answer);
      }
    }
  }

  static void Beat(broker::LocalBroker& mine, const broker::LeaseCall& call,
                   const broker::LeaseAnswer& answer) {
    Later<broker::HeartbeatAnswer> later;
    mine.Heartbeat({call.worker_id, *call.lease_duration, {{answer.tasks.front().token, {}}}},
                   later.done());
    static_cast<void>(later.Get());
  }

  static void Release(broker::LocalBroker& mine, const broker::LeaseAnswer& answer) {
    std::vector<model::NackItem> items;
    for (const model::LeasedTask& task : answer.tasks) {
      items.push_back({task.token, model::NackDisposition::kRelease, std::nullopt, {}});
    }
    Later<std::vector<model::NackResult>> later;
    mine.Nack(std::move(items), later.done());
    static_cast<void>(later.Get());
  }

  void AckAll(broker::LocalBroker& mine, const broker::LeaseAnswer& answer) {
    std::vector<model::LeaseToken> tokens;
    for (const model::LeasedTask& task : answer.tasks) tokens.push_back(task.token);
    absl::StatusOr<std::vector<model::SettleOutcome>> outcomes = absl::UnknownError("");
    while (!outcomes.ok() && GoesOn()) {
      outcomes = AckTokens(mine, tokens);
    }
    if (!outcomes.ok()) return;
    base::MutexLock lock(mutex_);
    for (size_t i = 0; i < tokens.size(); ++i) {
      const model::SettleOutcome outcome = (*outcomes)[i];
      if (outcome == model::SettleOutcome::kSettled ||
          outcome == model::SettleOutcome::kAlreadySettled) {
        settled_.insert(tokens[i].task.id);
      }
    }
    done_ = static_cast<int>(settled_.size());
  }

  // What operators do, while connections break in the course of the work.
  void Operate() {
    int breaks = 0;
    for (int turn = 0; GoesOn(); ++turn) {
      Later<broker::QueueWithCounts> counts;
      BrokerOf(turn).GetQueue("q", counts.done());
      static_cast<void>(counts.Get());
      const auto mode = turn % 2 == 0 ? model::PauseMode::kLease : model::PauseMode::kNone;
      Later<model::Queue> paused;
      BrokerOf(turn / 2).PauseQueue({"q", mode, "", Origin()}, paused.done());
      static_cast<void>(paused.Get());
      EXPECT_THAT(metrics_.Text(), ::testing::HasSubstr("skiplane_"));
      if (done_ < breaks * kTasks / kBreaks) continue;
      ++breaks;
      Sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
          "AND datname = current_database() ORDER BY random() LIMIT 2");
    }
  }

  const absl::Time deadline_ = absl::Now() + absl::Minutes(5);
  std::unique_ptr<broker::LocalBroker> other_ = NewBroker();
  std::atomic<int> done_ = 0;
  base::Mutex mutex_;
  std::set<int64_t> settled_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(CrowdTest, EveryTaskIsDoneOnceWhateverHappensAtOnce) {
  upkeep::UpkeepOptions options;
  options.connect.uri = database_.uri();
  options.broker_id = model::NewSessionId();
  options.pass_interval = absl::Milliseconds(20);
  upkeep::Upkeep upkeep(options, &metrics_);
  upkeep.Start();
  std::vector<std::thread> crowd;
  for (int i = 0; i < kProducers; ++i) crowd.emplace_back([this, i] { Produce(i); });
  for (int i = 0; i < kWorkers; ++i) crowd.emplace_back([this, i] { Work(i); });
  crowd.emplace_back([this] { Operate(); });
  for (std::thread& one : crowd) one.join();
  EXPECT_EQ(done_, kTasks);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history WHERE outcome = 1"), kTasks);
  other_->BeginDrain();
}

}  // namespace
}  // namespace skiplane::testing
