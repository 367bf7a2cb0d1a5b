// A client of a whole broker in this process, on a database of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/app/app.h"
#include "server/base/log.h"
#include "skiplane/client.h"
#include "tests/support/database.h"
#include "tests/support/require.h"

namespace skiplane {

class BrokerTest : public ::testing::Test {
 protected:
  BrokerTest() {
    config::Config config;
    config.listen = "127.0.0.1:0";
    config.metrics_listen = "";
    config.database_uri = database_.broker_uri();
    base::SetLogLevel(base::LogLevel::kError);
    auto app = app::App::Start(config);
    testing::Require(app.ok(), app.status().ToString());
    app_ = *std::move(app);
    client_ = *Client::Connect({.addresses = {absl::StrCat("127.0.0.1:", app_->port())}});
  }

  Client& client() { return *client_; }

  void MakeQueue(const std::string& name, const QueueSettings& settings = {}) {
    const auto queue = client().CreateQueue(name, settings);
    ASSERT_TRUE(queue.ok()) << queue.status();
  }

  // Of a pipeline with these stages that keeps results.
  static QueueSettings Stages(const std::vector<std::string>& names) {
    QueueSettings settings{.keep_results = true};
    for (const std::string& name : names) settings.stages.push_back({.name = name});
    return settings;
  }

  EnqueueResult Put(const std::string& queue, NewTask task) {
    auto result = client().Enqueue(queue, std::move(task));
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : EnqueueResult();
  }

  // Waits for a task of the queue (and stage) and leases it.
  LeasedTask Take(const std::string& queue, const std::string& stage = "") {
    LeaseCall call{.wait = absl::Seconds(60)};
    call.queues.push_back({.name = queue, .stage = stage});
    auto answer = client().Lease(std::move(call));
    const bool has_one = answer.ok() && answer->tasks.size() == 1;
    EXPECT_TRUE(has_one) << answer.status();
    return has_one ? std::move(answer->tasks.front()) : LeasedTask();
  }

  void Ack(const LeasedTask& task, AckMore more = {}, const std::string& result = "") {
    std::vector<AckItem> items;
    items.push_back({.lease_token = task.lease_token, .result = result, .more = std::move(more)});
    const auto results = client().Ack(std::move(items));
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->front().outcome, SettleOutcome::kSettled);
  }

  Task View(const std::string& task_id) {
    auto task = client().GetTask(task_id);
    EXPECT_TRUE(task.ok()) << task.status();
    return task.ok() ? *std::move(task) : Task();
  }

  testing::Database database_ = testing::Database::Migrated();

 private:
  std::unique_ptr<app::App> app_;
  std::optional<Client> client_;
};

}  // namespace skiplane
