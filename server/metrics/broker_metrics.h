// The metrics of this broker as a whole: its role, its batches, its workers, its chores.
// Thread-safe.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/metrics/families.h"
#include "server/metrics/series.h"

namespace skiplane::metrics {

class BrokerMetrics {
 public:
  BrokerMetrics(Registry& registry, absl::string_view version, absl::string_view commit);

  void LeaseLost(absl::string_view call, int64_t items);
  void OrphanLeasesReleased(int64_t tasks);
  void HandedOff(int64_t tasks);
  void SessionsLost(int64_t sessions);
  void SetWorkers(int64_t alive);
  void SetAwaitingCalls(int64_t calls);
  void AddStreams(absl::string_view kind, int64_t more);
  void AddStreamCredit(int64_t more);
  void SetAwaitedByPeers(int64_t tasks);
  void SetDraining(bool draining);
  void SetReloaded(bool succeeded);
  void SetCertificateExpiry(absl::Time time);
  void SetLeader(bool leader);
  void SetReady(bool ready);
  void Batch(absl::string_view operation, int64_t rows);
  void Chore(absl::string_view name, absl::Duration duration, bool ok);

 private:
  SharedSeries<Counter> lost_leases_;
  Counter& orphan_leases_;
  Counter& handed_off_;
  Counter& lost_sessions_;
  SharedSeries<Gauge> workers_;
  Gauge& awaiting_calls_;
  SharedSeries<Gauge> streams_;
  Gauge& stream_credit_;
  Gauge& awaited_by_peers_;
  Gauge& draining_;
  Gauge& reload_succeeded_;
  Family<Gauge>& certificate_expiry_;  // empty without TLS
  Gauge& leader_;
  Gauge& ready_;
  SharedSeries<Histogram> batches_;
  SharedSeries<Histogram> chores_;
  SharedSeries<Counter> chore_failures_;
  SharedSeries<Gauge> chore_successes_;
};

}  // namespace skiplane::metrics
