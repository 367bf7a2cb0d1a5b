// The metrics that carry a queue's name, for at most kQueuesMax names.
//
// A queue that appears for the first time has its counters and gauges at zero. Those without a name
// of their own share the name "__other__", which no queue can have: counters and task gauges are
// their sums, the oldest ages are their maxima, and a pause gauge counts the paused ones; stages
// are left out. A queue of "__other__" gets a name of its own when it appears and may have one.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/metrics/families.h"
#include "server/metrics/metrics.h"
#include "server/metrics/other_queues.h"
#include "server/metrics/queue_names.h"
#include "server/metrics/queue_series.h"

namespace skiplane::metrics {

class QueueMetrics {
 public:
  explicit QueueMetrics(Registry& registry) : families_(registry) {}

  void Pin(std::vector<std::string> patterns);
  void Name(const std::vector<std::string>& names);

  void Enqueued(absl::string_view queue, absl::string_view result, int64_t tasks);
  void Leased(absl::string_view queue, absl::string_view kind, int64_t tasks);
  void AttemptEnded(absl::string_view queue, absl::string_view outcome, int64_t tasks);
  void Finished(absl::string_view queue, absl::string_view outcome, int64_t tasks);
  void Waited(absl::string_view queue, absl::Duration wait);
  void Ran(absl::string_view queue, absl::Span<const absl::Duration> times);
  void Lagged(absl::string_view queue, absl::Duration lag);
  void Set(absl::string_view queue, const QueueGauges& gauges);
  void SetWaitingLeases(absl::string_view queue, int64_t calls);
  void Remove(absl::string_view queue);

 private:
  // Null: the queue is one of "__other__".
  QueueSeries* OwnSeries(absl::string_view queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  QueueSeries& SeriesOf(absl::string_view queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  QueueSeries& Other() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  base::Mutex mutex_;
  QueueFamilies families_ ABSL_GUARDED_BY(mutex_);
  QueueNames names_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::unique_ptr<QueueSeries>> queues_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<QueueSeries> other_ ABSL_GUARDED_BY(mutex_);  // null until a queue needs it
  OtherQueues other_queues_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::metrics
