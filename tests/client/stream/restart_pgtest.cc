// Clients of a broker that is killed and comes back, or that shuts down for another one.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "skiplane/client.h"
#include "skiplane/worker.h"
#include "tests/support/database.h"
#include "tests/support/process.h"
#include "tests/support/require.h"

namespace skiplane {
namespace {

constexpr int kTasks = 10'000;

// Counts, and wakes whoever waits for a number.
class Count {
 public:
  void Add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
    changed_.notify_all();
  }

  bool WaitFor(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(2), [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

class Restart : public ::testing::Test {
 protected:
  Restart() : folder_(absl::StrCat(::testing::TempDir(), "/restart-", getpid())) {
    std::filesystem::create_directories(folder_);
    Start(0, "127.0.0.1:0");
    client_ = *Client::Connect({.addresses = {address_},
                                .call_timeout = absl::Minutes(2),
                                .backoff = absl::Seconds(1),
                                .max_backoff = absl::Seconds(2)});
    testing::Require(client_->CreateQueue("q").ok(), "no queue");
  }

  ~Restart() override {
    brokers_.clear();
    std::filesystem::remove_all(folder_);
  }

  void Start(int number, const std::string& listen) {
    const std::string ready = absl::StrCat(folder_, "/ready", number);
    app::ChildOptions child;
    child.argv = {SKIPLANED,      "--listen", listen,       "--metrics-listen", "127.0.0.1:0",
                  "--database",   database_.broker_uri(),   "--ready-file",     ready,
                  "--log-level",  "error"};
    child.death_signal = SIGKILL;
    auto process = std::make_unique<testing::Process>(child);
    testing::Require(process->WaitForFile(ready), process->output());
    std::ifstream file(ready);
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("listen=", 0) == 0) address_ = line.substr(7);
    }
    brokers_.push_back(std::move(process));
  }

  void Kill() {
    brokers_.back()->Signal(SIGKILL);
    brokers_.back()->Wait();
  }

  testing::Database database_ = testing::Database::Migrated();
  const std::string folder_;
  std::string address_;
  std::vector<std::unique_ptr<testing::Process>> brokers_;
  std::optional<Client> client_;
};

TEST_F(Restart, EachOfManyEnqueuesIsThereOnceThoughTheBrokerWasKilledAmongThem) {
  Count answered;
  std::atomic<int> failed = 0;
  for (int i = 0; i < kTasks; ++i) {
    client_->EnqueueAsync({.queue = "q", .tasks = {{.payload = absl::StrCat(i)}}},
                          [&](const auto& results) {
                            if (!results.ok()) ++failed;
                            answered.Add();
                          });
  }
  ASSERT_TRUE(answered.WaitFor(100));
  Kill();
  Start(1, address_);
  ASSERT_TRUE(answered.WaitFor(kTasks));
  EXPECT_EQ(failed, 0);
  const std::string all = "FROM (SELECT payload FROM skiplane.task UNION ALL"
                          " SELECT payload FROM skiplane.packed_task) AS t";
  EXPECT_EQ(database_.Run("SELECT count(*) " + all), absl::StrCat(kTasks));
  EXPECT_EQ(database_.Run("SELECT count(DISTINCT payload) " + all), absl::StrCat(kTasks));
}

TEST_F(Restart, AWorkerLosesNothingAndRunsNothingTwiceThoughItsBrokerIsKilled) {
  constexpr int kRuns = 2000;
  std::vector<NewTask> tasks;
  for (int i = 0; i < kRuns; ++i) {
    tasks.push_back({.payload = absl::StrCat(i)});
    if (tasks.size() < 1000) continue;
    ASSERT_TRUE(client_->Enqueue({.queue = "q", .tasks = std::exchange(tasks, {})}).ok());
  }
  std::mutex mutex;
  std::map<std::string, int> runs;
  Count ran;
  Count ended;
  auto worker = Worker::Start(*client_,
                              {.queues = {{.name = "q"}},
                               .concurrency = 4,
                               .prefetch = 20,
                               .lease_duration = absl::Minutes(2),
                               .on_attempt_end = [&](const LeasedTask&, AttemptEnd end) {
                                 if (end == AttemptEnd::kDone) ended.Add();
                               }},
                              [&](const LeasedTask& task, Attempt&) {
                                {
                                  const std::lock_guard<std::mutex> lock(mutex);
                                  ++runs[task.payload];
                                }
                                ran.Add();
                                return Result::Done();
                              });
  ASSERT_TRUE(worker.ok()) << worker.status();
  ASSERT_TRUE(ran.WaitFor(300));
  Kill();
  Start(1, address_);
  ASSERT_TRUE(ended.WaitFor(kRuns));
  (*worker)->Stop();
  EXPECT_EQ(runs.size(), size_t{kRuns});
  for (const auto& [payload, count] : runs) EXPECT_EQ(count, 1) << payload;
  EXPECT_EQ((*worker)->counts().lost, 0);
  EXPECT_EQ(database_.Run("SELECT count(*) FROM skiplane.task"), "0");
}

TEST_F(Restart, ABrokerThatShutsDownFailsNoCall) {
  const std::string first = address_;
  Start(1, "127.0.0.1:0");
  auto client = *Client::Connect({.addresses = {first, address_}});
  Count answered;
  std::atomic<int> failed = 0;
  const auto enqueue = [&](int count) {
    for (int i = 0; i < count; ++i) {
      client.EnqueueAsync({.queue = "q", .tasks = {{}}}, [&](const auto& results) {
        if (!results.ok()) ++failed;
        answered.Add();
      });
    }
  };
  Count ended;
  auto worker = Worker::Start(client,
                              {.queues = {{.name = "q"}},
                               .concurrency = 4,
                               .on_attempt_end = [&](const LeasedTask&, AttemptEnd end) {
                                 if (end == AttemptEnd::kDone) ended.Add();
                               }},
                              [](const LeasedTask&, Attempt&) { return Result::Done(); });
  enqueue(1000);
  ASSERT_TRUE(answered.WaitFor(100));
  brokers_.front()->Signal(SIGTERM);
  enqueue(1000);
  EXPECT_EQ(brokers_.front()->Wait(), 0);
  enqueue(1000);
  ASSERT_TRUE(answered.WaitFor(3000));
  EXPECT_TRUE(ended.WaitFor(3000));
  (*worker)->Stop();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ((*worker)->counts().lost, 0);
  EXPECT_EQ((*worker)->counts().done, 3000);
}

}  // namespace
}  // namespace skiplane
