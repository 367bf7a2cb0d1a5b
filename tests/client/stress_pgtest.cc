// A thousand workers behind one client, and so behind one connection.
#include <algorithm>
#include <set>

#include "server/base/mutex.h"
#include "tests/client/broker_fixture.h"

namespace skiplane {
namespace {

constexpr int kWorkers = 1000;

class Stress : public BrokerTest {
 protected:
  Stress() { MakeQueue("busy"); }

  static std::string Name(int worker) { return absl::StrCat("worker ", worker); }

  void BeginToWait(int worker) {
    LeaseCall call{.wait = absl::Seconds(60)};
    call.queues.push_back({.name = "busy"});
    call.worker_id = Name(worker);
    call.lease_duration = absl::Minutes(1);
    client().LeaseAsync(std::move(call), [this, worker](absl::StatusOr<LeaseAnswer> answer) {
      base::MutexLock lock(mutex_);
      answers_.emplace_back(worker, std::move(answer));
      changed_.NotifyAll();
    });
  }

  // The tasks by worker, once every worker was answered.
  std::vector<std::pair<int, LeasedTask>> WaitForAll() {
    std::vector<std::pair<int, LeasedTask>> tasks;
    base::MutexLock lock(mutex_);
    while (answers_.size() < kWorkers) changed_.Wait(mutex_);
    for (auto& [worker, answer] : answers_) {
      EXPECT_TRUE(answer.ok()) << answer.status();
      if (!answer.ok()) continue;
      for (LeasedTask& task : answer->tasks) tasks.emplace_back(worker, std::move(task));
    }
    return tasks;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<std::pair<int, absl::StatusOr<LeaseAnswer>>> answers_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(Stress, ManyWaitersAreServedAndKeepNoOtherCallBack) {
  for (int worker = 0; worker < kWorkers; ++worker) BeginToWait(worker);
  MakeQueue("other");
  Put("other", {.payload = "beside"});
  Ack(Take("other"));

  std::vector<NewTask> tasks(kWorkers);
  for (int i = 0; i < kWorkers; ++i) tasks[static_cast<size_t>(i)].payload = absl::StrCat(i);
  ASSERT_TRUE(client().Enqueue({.queue = "busy", .tasks = std::move(tasks)}).ok());
  std::set<std::string> payloads;
  std::vector<std::string> tokens;
  for (auto& [worker, task] : WaitForAll()) {
    payloads.insert(task.payload);
    tokens.push_back(std::move(task.lease_token));
  }
  EXPECT_EQ(payloads.size(), static_cast<size_t>(kWorkers));

  const auto heartbeat = client().Heartbeat(
      {.worker_id = Name(kWorkers - 1), .lease_duration = absl::Minutes(1)});
  ASSERT_TRUE(heartbeat.ok()) << heartbeat.status();
  EXPECT_TRUE(heartbeat->session_alive);
  const auto outcomes = client().Ack(std::move(tokens));
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  const auto is_done = [](const SettleResult& result) {
    return result.outcome == SettleOutcome::kSettled;
  };
  EXPECT_EQ(std::ranges::count_if(*outcomes, is_done), kWorkers);
}

}  // namespace
}  // namespace skiplane
