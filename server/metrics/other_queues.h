// The gauges of the queues that have no series of their own, added up for "__other__".
//
// Not thread-safe: the owner locks.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/metrics/metrics.h"

namespace skiplane::metrics {

// What the gauges of one name show: of one queue, or of several.
struct QueueSample {
  int64_t scheduled = 0;
  int64_t ready = 0;
  int64_t leased = 0;
  int64_t paused_leases = 0;    // queues whose leases are paused
  int64_t paused_enqueues = 0;  // queues whose enqueues are paused
  int64_t waiting_leases = 0;
  absl::Duration oldest_ready_age{};
  absl::Duration oldest_attempt_age{};
  int64_t dead_letters = 0;
};

// The sample of one queue.
QueueSample SampleOf(const QueueGauges& gauges, int64_t waiting_leases);

class OtherQueues {
 public:
  void Set(absl::string_view queue, const QueueGauges& gauges);
  void SetWaitingLeases(absl::string_view queue, int64_t calls);

  // Forgets a queue and returns what it showed last; zeros if it never showed anything.
  QueueSample Take(absl::string_view queue);

  // Sums, and the highest ages.
  QueueSample Total() const;

 private:
  void Add(const QueueSample& sample, int64_t sign);
  void Put(absl::string_view queue, const QueueSample& sample);

  absl::flat_hash_map<std::string, QueueSample> queues_;
  QueueSample sums_;  // of queues_, without the ages
  std::multiset<absl::Duration> ready_ages_;
  std::multiset<absl::Duration> attempt_ages_;
};

}  // namespace skiplane::metrics
