#include "server/metrics/metrics.h"

#include <utility>

#include "prometheus/text_serializer.h"
#include "server/metrics/broker_metrics.h"
#include "server/metrics/connection_metrics.h"
#include "server/metrics/database_metrics.h"
#include "server/metrics/process_metrics.h"
#include "server/metrics/queue_metrics.h"
#include "server/metrics/rpc_metrics.h"
#include "server/metrics/scrape_metrics.h"
#include "server/metrics/size_metrics.h"

namespace skiplane::metrics {

struct Metrics::State {
  State(absl::string_view version, absl::string_view commit)
      : broker(*registry, version, commit) {}

  const std::shared_ptr<Registry> registry = std::make_shared<Registry>();
  const std::shared_ptr<ProcessMetrics> process = std::make_shared<ProcessMetrics>();
  QueueMetrics queues{*registry};
  RpcMetrics rpcs{*registry};
  ConnectionMetrics connections{*registry};
  DatabaseMetrics database{*registry};
  SizeMetrics sizes{*registry};
  ScrapeMetrics scrapes{*registry};
  BrokerMetrics broker;
};

Metrics::Metrics(absl::string_view version, absl::string_view commit)
    : state_(std::make_unique<State>(version, commit)) {}

Metrics::~Metrics() = default;

void Metrics::Enqueued(absl::string_view queue, absl::string_view result, int64_t tasks) {
  state_->queues.Enqueued(queue, result, tasks);
}

void Metrics::Leased(absl::string_view queue, absl::string_view kind, int64_t tasks) {
  state_->queues.Leased(queue, kind, tasks);
}

void Metrics::AttemptEnded(absl::string_view queue, absl::string_view outcome, int64_t tasks) {
  state_->queues.AttemptEnded(queue, outcome, tasks);
}

void Metrics::Finished(absl::string_view queue, absl::string_view outcome, int64_t tasks) {
  state_->queues.Finished(queue, outcome, tasks);
}

void Metrics::LeaseLost(absl::string_view call, int64_t items) {
  state_->broker.LeaseLost(call, items);
}

void Metrics::HandedOff(int64_t tasks) { state_->broker.HandedOff(tasks); }
void Metrics::OrphanLeasesReleased(int64_t tasks) { state_->broker.OrphanLeasesReleased(tasks); }

void Metrics::SessionsLost(int64_t sessions) { state_->broker.SessionsLost(sessions); }

void Metrics::PinQueues(std::vector<std::string> patterns) {
  state_->queues.Pin(std::move(patterns));
}

void Metrics::NameQueues(const std::vector<std::string>& names) { state_->queues.Name(names); }

void Metrics::SetQueue(absl::string_view queue, const QueueGauges& gauges) {
  state_->queues.Set(queue, gauges);
}

void Metrics::RemoveQueue(absl::string_view queue) { state_->queues.Remove(queue); }

void Metrics::SetWaitingLeases(absl::string_view queue, int64_t calls) {
  state_->queues.SetWaitingLeases(queue, calls);
}

void Metrics::SetWorkers(int64_t alive) { state_->broker.SetWorkers(alive); }

void Metrics::SetAwaitingCalls(int64_t calls) { state_->broker.SetAwaitingCalls(calls); }

void Metrics::AddStreams(absl::string_view kind, int64_t more) {
  state_->broker.AddStreams(kind, more);
}

void Metrics::AddStreamCredit(int64_t more) { state_->broker.AddStreamCredit(more); }

void Metrics::SetAwaitedByPeers(int64_t tasks) { state_->broker.SetAwaitedByPeers(tasks); }

void Metrics::SetDraining(bool draining) { state_->broker.SetDraining(draining); }
void Metrics::SetReloaded(bool succeeded) { state_->broker.SetReloaded(succeeded); }
void Metrics::SetCertificateExpiry(absl::Time time) { state_->broker.SetCertificateExpiry(time); }

void Metrics::SetLeader(bool leader) { state_->broker.SetLeader(leader); }

void Metrics::SetReady(bool ready) { state_->broker.SetReady(ready); }

void Metrics::SetDatabaseUp(bool up) { state_->database.SetUp(up); }

void Metrics::SetTable(absl::string_view table, const TableGauges& gauges) {
  state_->sizes.SetTable(table, gauges);
}

void Metrics::SetDatabaseBytes(int64_t bytes) { state_->sizes.SetDatabase(bytes); }

void Metrics::Batch(absl::string_view operation, int64_t rows) {
  state_->broker.Batch(operation, rows);
}

void Metrics::QueueWait(absl::string_view queue, absl::Duration wait) {
  state_->queues.Waited(queue, wait);
}

void Metrics::RunTimes(absl::string_view queue, absl::Span<const absl::Duration> times) {
  state_->queues.Ran(queue, times);
}

void Metrics::ScheduleLag(absl::string_view queue, absl::Duration lag) {
  state_->queues.Lagged(queue, lag);
}

void Metrics::RpcStarted(absl::string_view method) { state_->rpcs.Started(method); }

void Metrics::RpcEnded(absl::string_view method, absl::string_view status,
                       absl::Duration duration) {
  state_->rpcs.Ended(method, status, duration);
}

void Metrics::RpcExhausted(absl::string_view reason) { state_->rpcs.Exhausted(reason); }

void Metrics::SetConnections(absl::string_view port, int64_t open, int64_t max) {
  state_->connections.Set(port, open, max);
}

void Metrics::ConnectionRefused(absl::string_view port) {
  state_->connections.Refused(port);
}

void Metrics::ConnectionCut(absl::string_view reason) { state_->connections.Cut(reason); }

void Metrics::HttpRefused(absl::string_view reason) { state_->connections.HttpRefused(reason); }

void Metrics::AcceptFailed(absl::string_view port) {
  state_->connections.AcceptFailed(port);
}

void Metrics::HttpBodyHeld(int64_t bytes) { state_->connections.HttpBodyHeld(bytes); }

void Metrics::SetPortAnswers(bool answers) { state_->connections.SetPortAnswers(answers); }

void Metrics::Statement(absl::string_view name, absl::Duration duration) {
  state_->database.Statement(name, duration);
}

void Metrics::DatabaseError(absl::string_view sqlstate_class) {
  state_->database.Error(sqlstate_class);
}

void Metrics::SetPool(int64_t connections, int64_t idle, int64_t waiting_jobs) {
  state_->database.SetPool(connections, idle, waiting_jobs);
}

void Metrics::Notification(absl::string_view result) { state_->database.Notification(result); }

void Metrics::SetDatabaseOutage(absl::string_view reason) { state_->database.SetOutage(reason); }

void Metrics::ClockStep(absl::Duration back) { state_->database.ClockStep(back); }

void Metrics::Chore(absl::string_view name, absl::Duration duration, bool ok) {
  state_->broker.Chore(name, duration, ok);
}

void Metrics::Scraped(int64_t bytes, absl::Duration duration) {
  state_->scrapes.Scraped(bytes, duration);
}

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families = state_->registry->Collect();
  for (prometheus::MetricFamily& family : state_->process->Collect()) {
    families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace skiplane::metrics
