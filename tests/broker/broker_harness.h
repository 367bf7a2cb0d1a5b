// A broker on a database of the test's own, with calls that wait for their answer.
//
// Waiting is bounded: a call that is not answered in a minute ends the test program. Not
// thread-safe apart from what Broker promises.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/broker/local_broker.h"
#include "tests/support/database.h"
#include "tests/support/status_matchers.h"

namespace skiplane::testing {

// An answer that may come later.
template <typename Answer>
class Later {
 public:
  broker::Callback<Answer> done() {
    return [promise = promise_](absl::StatusOr<Answer> answer) {
      promise->set_value(std::move(answer));
    };
  }
  bool is_there() { return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  absl::StatusOr<Answer> Get() {
    if (future_.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
      return absl::DeadlineExceededError("no answer within a minute");
    }
    return future_.get();
  }

 private:
  std::shared_ptr<std::promise<absl::StatusOr<Answer>>> promise_ =
      std::make_shared<std::promise<absl::StatusOr<Answer>>>();
  std::future<absl::StatusOr<Answer>> future_ = promise_->get_future();
};

model::NewTask Payload(const std::string& payload);
// One queue "q", one task, no wait, a worker named `worker`.
broker::LeaseCall LeaseOf(const std::string& worker, int max_tasks = 1,
                          absl::Duration wait = absl::ZeroDuration());

// Of a change that a test makes as an operator.
inline model::Origin Origin() { return {"test", "Test", "{}"}; }

// Acks these leases and waits for the answer.
absl::StatusOr<std::vector<model::SettleOutcome>> AckTokens(
    broker::Broker& broker, const std::vector<model::LeaseToken>& tokens);

class BrokerHarness : public ::testing::Test {
 protected:
  BrokerHarness();

  // One more broker on the same database, or the first.
  std::unique_ptr<broker::LocalBroker> NewBroker(bool create_missing_queues = true,
                                                 int connections = 4,
                                                 broker::AwaitTimes await_times = {});
  broker::LocalBroker& broker() { return *broker_; }
  std::string Sql(const std::string& text) const { return database_.Run(text); }
  int64_t Number(const std::string& text) const { return std::stoll(Sql(text)); }

  // Holds a lock on tables, `tables` as LOCK TABLE names them, until it commits or is gone.
  std::unique_ptr<pg::Session> Lock(const std::string& tables) const;

  // How often a statement was run by all brokers.
  int64_t RunsOf(const std::string& statement) const;
  // Returns when the brokers hear notifications.
  void WaitForListeners(int brokers) const;

  std::vector<broker::EnqueueResult> Enqueue(std::vector<model::NewTask> tasks,
                                             const std::string& request_id = "");
  broker::LeaseAnswer Lease(broker::LeaseCall call);
  model::LeasedTask LeaseOne(const std::string& worker);
  model::SettleOutcome Ack(const model::LeaseToken& token);
  model::SettleResult Nack(model::NackItem item);

  Database database_ = Database::Migrated();
  metrics::Metrics metrics_{"test", "test"};
  std::unique_ptr<broker::LocalBroker> broker_;
};

}  // namespace skiplane::testing
