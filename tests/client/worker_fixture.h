// A Worker on a FakeBroker, and a gate that a test's handlers wait at.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "skiplane/worker.h"
#include "tests/client/fake_broker.h"

namespace skiplane {

// Handlers stop at Pass() until Open(). Thread-safe.
class Gate {
 public:
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }

  void Open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

  void WaitForArrivals(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  bool is_open_ = false;
};

// A handler that is done when it has passed the gate, which outlives it.
inline Handler Through(Gate& gate) {
  return [&gate](const LeasedTask&, Attempt&) {
    gate.Pass();
    return Result::Done();
  };
}

// Returns when `stop` was asked for.
inline void WaitForStop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, stop, [] { return false; });
}

class WorkerTest : public testing::Test {
 protected:
  std::unique_ptr<Worker> Started(Handler handler, WorkerOptions options = {}) {
    options.queues = {{.name = "q"}};
    auto client = Client::Connect(
        {.addresses = {broker_.address()}, .backoff = absl::Milliseconds(1)});
    auto worker = Worker::Start(*client, options, std::move(handler));
    EXPECT_TRUE(worker.ok()) << worker.status();
    return *std::move(worker);
  }

  // A worker with the results of "1", "2" and "3" ready behind the call for "first", which is held.
  // The handler of "last" waits at `gate`, in the one thread that had added these results before.
  void GatherThree(Gate& gate, std::unique_ptr<Worker>* worker) {
    *worker = Started(
        [&gate](const LeasedTask& task, Attempt&) {
          if (task.task_id == "last") gate.Pass();
          return Result::Done();
        },
        {.concurrency = 1, .prefetch = 4});
    broker_.HoldSettlements(true);
    broker_.AddTask("first");
    ASSERT_NO_FATAL_FAILURE(WaitForFirstCall());
    for (const std::string id : {"1", "2", "3", "last"}) broker_.AddTask(id);
    gate.WaitForArrivals(1);
  }

  // Of whichever task: handlers that run at once end in any order.
  void WaitForFirstCall() {
    ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.settles.size() == 1; }));
  }

  bool IsAcked(const std::string& token) {
    return broker_.WaitUntil([&] { return broker_.acked.count(token) > 0; });
  }

  bool IsNacked(const std::string& token) {
    return broker_.WaitUntil([&] { return broker_.nacked.count(token) > 0; });
  }

  FakeBroker broker_;
};

}  // namespace skiplane
