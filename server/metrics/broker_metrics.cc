#include "server/metrics/broker_metrics.h"

#include "absl/time/clock.h"

namespace skiplane::metrics {
namespace {

Buckets BatchBuckets() { return {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}; }

Buckets ChoreBuckets() { return {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60}; }

double UnixNow() { return static_cast<double>(absl::ToUnixMillis(absl::Now())) / 1000; }

}  // namespace

BrokerMetrics::BrokerMetrics(Registry& registry, absl::string_view version,
                             absl::string_view commit)
    : lost_leases_(NewCounter(registry, "skiplane_lost_lease_items_total",
                              "Items refused because their lease was over."),
                   {"call", {}, {}}, {"ack", "nack", "settle", "heartbeat"}),
      orphan_leases_(NewCounter(registry, "skiplane_orphan_leases_handed_back_total",
                                "Leases handed back because their caller had vanished.")
                         .Add({})),
      handed_off_(NewCounter(registry, "skiplane_handed_off_tasks_total",
                             "Tasks leased to waiting workers by the statement that made them.")
                      .Add({})),
      lost_sessions_(NewCounter(registry, "skiplane_sessions_lost_total",
                                "Worker sessions that ended in silence while they held tasks.")
                         .Add({})),
      workers_(NewGauge(registry, "skiplane_workers", "Worker sessions in the installation."),
               {"state", {}, {}}, {"alive"}),
      awaiting_calls_(NewGauge(registry, "skiplane_awaiting_calls",
                               "GetTask calls that wait for the end of a task.")
                          .Add({})),
      streams_(NewGauge(registry, "skiplane_streams",
                        "Open streams of workers, of producers, and of those who watch queues."),
               {"kind", {}, {}}, {"work", "produce", "watch"}),
      stream_credit_(NewGauge(registry, "skiplane_stream_credit",
                              "How many more tasks the open Work streams take.")
                         .Add({})),
      awaited_by_peers_(NewGauge(registry, "skiplane_awaited_by_peers",
                                 "Tasks for whose ends calls at other brokers wait.")
                            .Add({})),
      draining_(NewGauge(registry, "skiplane_draining", "1 while this broker ends.").Add({})),
      reload_succeeded_(NewGauge(registry, "skiplane_last_reload_succeeded",
                                 "0 if the last reload failed: what files say is not in force.")
                            .Add({})),
      certificate_expiry_(NewGauge(registry, "skiplane_tls_certificate_expiry_timestamp_seconds",
                                   "Unix time until which the broker's certificate is valid.")),
      leader_(NewGauge(registry, "skiplane_leader", "1 while this broker does upkeep.").Add({})),
      ready_(NewGauge(registry, "skiplane_ready", "1 while this broker takes calls.").Add({})),
      batches_(NewHistogram(registry, "skiplane_batch_tasks", "Tasks that one statement served."),
               {"call", {}, BatchBuckets()},
               {"enqueue", "lease", "ack", "settle", "heartbeat"}),
      chores_(NewHistogram(registry, "skiplane_chore_duration_seconds",
                           "Time of one run of a chore."),
              {"chore", {}, ChoreBuckets()}),
      chore_failures_(NewCounter(registry, "skiplane_chore_failures_total",
                                 "Runs of a chore that failed."),
                      {"chore", {}, {}}),
      chore_successes_(NewGauge(registry, "skiplane_chore_last_success_timestamp_seconds",
                                "Unix time of the last good run on this broker; 0 before."),
                       {"chore", {}, {}}) {
  NewGauge(registry, "skiplane_build_info", "1, labelled with what runs.")
      .Add({{"version", std::string(version)}, {"commit", std::string(commit)}})
      .Set(1);
  reload_succeeded_.Set(1);
}

void BrokerMetrics::LeaseLost(absl::string_view call, int64_t items) {
  lost_leases_.At(call).Increment(static_cast<double>(items));
}

void BrokerMetrics::HandedOff(int64_t tasks) {
  handed_off_.Increment(static_cast<double>(tasks));
}

void BrokerMetrics::OrphanLeasesReleased(int64_t tasks) {
  orphan_leases_.Increment(static_cast<double>(tasks));
}

void BrokerMetrics::SessionsLost(int64_t sessions) {
  lost_sessions_.Increment(static_cast<double>(sessions));
}

void BrokerMetrics::SetWorkers(int64_t alive) {
  workers_.At("alive").Set(static_cast<double>(alive));
}

void BrokerMetrics::SetAwaitingCalls(int64_t calls) {
  awaiting_calls_.Set(static_cast<double>(calls));
}

void BrokerMetrics::AddStreams(absl::string_view kind, int64_t more) {
  streams_.At(kind).Increment(static_cast<double>(more));
}

void BrokerMetrics::AddStreamCredit(int64_t more) {
  stream_credit_.Increment(static_cast<double>(more));
}

void BrokerMetrics::SetAwaitedByPeers(int64_t tasks) {
  awaited_by_peers_.Set(static_cast<double>(tasks));
}

void BrokerMetrics::SetDraining(bool draining) { draining_.Set(draining ? 1 : 0); }

void BrokerMetrics::SetReloaded(bool succeeded) { reload_succeeded_.Set(succeeded ? 1 : 0); }

void BrokerMetrics::SetCertificateExpiry(absl::Time time) {
  certificate_expiry_.Add({}).Set(static_cast<double>(absl::ToUnixSeconds(time)));
}

void BrokerMetrics::SetLeader(bool leader) { leader_.Set(leader ? 1 : 0); }

void BrokerMetrics::SetReady(bool ready) { ready_.Set(ready ? 1 : 0); }

void BrokerMetrics::Batch(absl::string_view operation, int64_t rows) {
  batches_.At(operation).Observe(static_cast<double>(rows));
}

void BrokerMetrics::Chore(absl::string_view name, absl::Duration duration, bool ok) {
  chores_.At(name).Observe(absl::ToDoubleSeconds(duration));
  // Both series exist after the first run, whatever came of it: alerts need them.
  Counter& failures = chore_failures_.At(name);
  Gauge& last_success = chore_successes_.At(name);
  if (ok) {
    last_success.Set(UnixNow());
  } else {
    failures.Increment();
  }
}

}  // namespace skiplane::metrics
