#include "tests/broker/broker_harness.h"

#include <utility>

#include "tests/support/require.h"

namespace skiplane::testing {

model::NewTask Payload(const std::string& payload) {
  model::NewTask task;
  task.payload = payload;
  return task;
}

broker::LeaseCall LeaseOf(const std::string& worker, int max_tasks, absl::Duration wait) {
  broker::LeaseCall call;
  call.queues = {{"q", 1, ""}};
  call.worker_id = worker;
  call.max_tasks = max_tasks;
  call.max_bytes = 1 << 20;
  call.wait = wait;
  return call;
}

absl::StatusOr<std::vector<model::SettleOutcome>> AckTokens(
    broker::Broker& broker, const std::vector<model::LeaseToken>& tokens) {
  std::vector<model::SettleItem> items;
  for (const model::LeaseToken& token : tokens) items.emplace_back(model::AckItem{token, nullptr});
  Later<std::vector<model::SettleResult>> later;
  broker.Settle(std::move(items), "", later.done());
  const auto results = later.Get();
  if (!results.ok()) return results.status();
  std::vector<model::SettleOutcome> outcomes;
  for (const model::SettleResult& result : *results) outcomes.push_back(result.outcome);
  return outcomes;
}

BrokerHarness::BrokerHarness() : broker_(NewBroker()) {}

std::unique_ptr<broker::LocalBroker> BrokerHarness::NewBroker(bool create_missing_queues,
                                                              int connections,
                                                              broker::AwaitTimes await_times) {
  broker::BrokerOptions options;
  options.connect.uri = database_.broker_uri();
  options.connections = connections;
  options.create_missing_queues = create_missing_queues;
  options.id = model::NewSessionId();
  options.name = "test";
  options.await_times = await_times;
  return std::make_unique<broker::LocalBroker>(options, metrics_, [](bool) {});
}

std::unique_ptr<pg::Session> BrokerHarness::Lock(const std::string& tables) const {
  auto session = Required(pg::Session::Open({.uri = database_.uri()}, nullptr));
  Required(session->RunText("SET idle_in_transaction_session_timeout = 0; BEGIN; LOCK TABLE " +
                            tables));
  return session;
}

int64_t BrokerHarness::RunsOf(const std::string& statement) const {
  const std::string series =
      "skiplane_db_statement_seconds_count{statement=\"" + statement + "\"} ";
  const std::string page = metrics_.Text();
  const size_t found = page.find(series);
  return found == std::string::npos ? 0 : std::stoll(page.substr(found + series.size()));
}

void BrokerHarness::WaitForListeners(int brokers) const {
  const std::string listening =
      "SELECT count(*) FROM pg_stat_activity "
      "WHERE datname = current_database() AND query LIKE 'LISTEN%'";
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (Number(listening) < brokers) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
}

std::vector<broker::EnqueueResult> BrokerHarness::Enqueue(std::vector<model::NewTask> tasks,
                                                          const std::string& request_id) {
  Later<std::vector<broker::EnqueueResult>> later;
  broker_->Enqueue({"q", std::move(tasks), request_id}, later.done());
  auto results = later.Get();
  EXPECT_THAT(results, IsOk());
  return results.ok() ? *results : std::vector<broker::EnqueueResult>();
}

broker::LeaseAnswer BrokerHarness::Lease(broker::LeaseCall call) {
  Later<broker::LeaseAnswer> later;
  const auto pending = broker_->Lease(std::move(call), later.done());
  auto answer = later.Get();
  EXPECT_THAT(answer, IsOk());
  return answer.ok() ? *std::move(answer) : broker::LeaseAnswer();
}

model::LeasedTask BrokerHarness::LeaseOne(const std::string& worker) {
  broker::LeaseAnswer answer = Lease(LeaseOf(worker, 1, absl::Seconds(30)));
  EXPECT_EQ(answer.tasks.size(), 1u);
  return answer.tasks.empty() ? model::LeasedTask() : answer.tasks.front();
}

model::SettleOutcome BrokerHarness::Ack(const model::LeaseToken& token) {
  auto outcomes = AckTokens(*broker_, {token});
  EXPECT_THAT(outcomes, IsOk());
  return outcomes.ok() ? outcomes->front() : model::SettleOutcome::kNotFound;
}

model::SettleResult BrokerHarness::Nack(model::NackItem item) {
  Later<std::vector<model::SettleResult>> later;
  std::vector<model::SettleItem> items;
  items.emplace_back(std::move(item));
  broker_->Settle(std::move(items), "", later.done());
  auto results = later.Get();
  EXPECT_THAT(results, IsOk());
  return results.ok() ? results->front() : model::SettleResult();
}

}  // namespace skiplane::testing
