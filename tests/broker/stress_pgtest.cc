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

class StressTest : public BrokerHarness {
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

  // Half of the workers lease the next tasks by their acks.
  void Work(int number) {
    const bool is_chained = number % 4 < 2;
    broker::LeaseAnswer held;
    for (int turn = 0; GoesOn(); ++turn) {
      // Now and then a new session, as of a worker that died and left what it held.
      broker::LeaseCall call = LeaseOf(absl::StrCat("w", number, ".", turn / 20), 1 + turn % 30,
                                       absl::Milliseconds(turn % 100));
      call.lease_duration = absl::Seconds(2);
      broker::LocalBroker& mine = BrokerOf(number);
      if (held.tasks.empty()) held = LeaseSome(mine, call, turn);
      if (held.tasks.empty()) continue;
      Heartbeat(mine, call, held);
      if (turn % 7 == 3) {
        mine.HandBack(held);
      } else if (turn % 7 == 5) {
        Release(mine, held);
      } else if (is_chained) {
        held = SettleAndLease(mine, held, call, turn);
        continue;
      } else {
        AckAll(mine, held);
      }
      held = {};
    }
  }

  static broker::LeaseAnswer LeaseSome(broker::LocalBroker& mine, const broker::LeaseCall& call,
                                       int turn) {
    Later<broker::LeaseAnswer> later;
    const auto pending = mine.Lease(call, later.done());
    if (turn % 9 == 8) pending->Cancel();
    auto answer = later.Get();
    return answer.ok() ? *std::move(answer) : broker::LeaseAnswer();
  }

  broker::LeaseAnswer SettleAndLease(broker::LocalBroker& mine, const broker::LeaseAnswer& held,
                                  broker::LeaseCall call, int turn) {
    if (turn % 2 == 0) call.request_id = absl::StrCat("turn", turn);
    std::vector<model::SettleItem> items;
    for (const model::LeasedTask& task : held.tasks) {
      items.emplace_back(model::AckItem{task.token, nullptr});
    }
    while (GoesOn()) {
      Later<broker::SettleAndLeaseAnswer> later;
      const auto pending = mine.SettleAndLease({items, call}, later.done());
      if (turn % 11 == 5) pending->Cancel();
      auto answer = later.Get();
      if (!answer.ok()) continue;
      for (size_t i = 0; i < items.size(); ++i) {
        Note(held.tasks[i].token, answer->results[i].outcome);
      }
      return answer->lease.value_or(broker::LeaseAnswer());
    }
    return {};
  }

  static void Heartbeat(broker::LocalBroker& mine, const broker::LeaseCall& call,
                        const broker::LeaseAnswer& answer) {
    Later<broker::HeartbeatAnswer> later;
    mine.Heartbeat({call.worker_id, *call.lease_duration, {{answer.tasks.front().token, {}}}},
                   later.done());
    static_cast<void>(later.Get());
  }

  static void Release(broker::LocalBroker& mine, const broker::LeaseAnswer& answer) {
    std::vector<model::SettleItem> items;
    for (const model::LeasedTask& task : answer.tasks) {
      items.emplace_back(
          model::NackItem{task.token, model::NackDisposition::kRelease, std::nullopt, {}});
    }
    Later<std::vector<model::SettleResult>> later;
    mine.Settle(std::move(items), "", later.done());
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
    for (size_t i = 0; i < tokens.size(); ++i) Note(tokens[i], (*outcomes)[i]);
  }

  void Note(const model::LeaseToken& token, model::SettleOutcome outcome) {
    base::MutexLock lock(mutex_);
    if (outcome == model::SettleOutcome::kSettled ||
        outcome == model::SettleOutcome::kAlreadySettled) {
      settled_.insert(token.task.id);
    }
    done_ = static_cast<int>(settled_.size());
  }

  // What operators do, while connections break in the course of the work.
  void Operate() {
    int breaks = 0;
    for (int turn = 0; GoesOn(); ++turn) {
      Later<broker::QueueWithCounts> counts;
      BrokerOf(turn).GetQueue({"q"}, counts.done());
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

TEST_F(StressTest, EveryTaskIsDoneOnceWhateverHappensAtOnce) {
  upkeep::UpkeepOptions options;
  options.connect.uri = database_.uri();
  options.broker_id = model::NewSessionId();
  options.pass_interval = absl::Milliseconds(20);
  upkeep::Upkeep upkeep(options, &metrics_);
  upkeep.Start();
  std::vector<std::thread> threads;
  for (int i = 0; i < kProducers; ++i) threads.emplace_back([this, i] { Produce(i); });
  for (int i = 0; i < kWorkers; ++i) threads.emplace_back([this, i] { Work(i); });
  threads.emplace_back([this] { Operate(); });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(done_, kTasks);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history WHERE outcome = 1"), kTasks);
  other_->BeginDrain();
}

}  // namespace
}  // namespace skiplane::testing
