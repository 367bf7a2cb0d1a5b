// An InMemoryBroker, and short ways to say what a test of it does.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "skiplane/error.h"
#include "skiplane/testing.h"

namespace skiplane {

inline Result AtOnce(const LeasedTask&, Attempt&) { return Result::Done(); }

class InMemoryTest : public testing::Test {
 protected:
  std::string Put(NewTask task) {
    const auto made = broker_.Enqueue("q", std::move(task));
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? made->task_id : "";
  }

  std::unique_ptr<RunningWorker> Started(Handler handler, WorkerOptions options = {}) {
    if (options.queues.empty()) options.queues = {{.name = "q"}};
    auto worker = broker_.StartWorker(std::move(options), std::move(handler));
    EXPECT_TRUE(worker.ok()) << worker.status();
    return *std::move(worker);
  }

  // Notes the payloads in the order in which they are run.
  std::unique_ptr<RunningWorker> Noting(WorkerOptions options = {}) {
    return Started(
        [this](const LeasedTask& task, Attempt&) {
          ran_.push_back(task.payload);
          return Result::Done();
        },
        std::move(options));
  }

  Task Seen(const std::string& id) {
    const auto task = broker_.GetTask({.task_id = id, .with_result = true});
    EXPECT_TRUE(task.ok()) << task.status();
    return task.ok() ? *task : Task();
  }

  InMemoryBroker broker_;
  std::vector<std::string> ran_;
};

}  // namespace skiplane
