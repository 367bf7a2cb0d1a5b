// The metrics that carry a queue's name, for at most kQueuesMax names.
//
// A queue that appears for the first time has all its series at zero, but for the lag of schedules,
// which is there once it has leased a periodic task. Beyond the cap queues share
// the name "__other__", which no queue can have: counters and task gauges are their sums, the
// oldest age is their maximum, and a pause gauge counts the paused ones. A queue of "__other__"
// gets a name of its own as soon as it shows up after another one was removed. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/metrics/families.h"
#include "server/metrics/metrics.h"
#include "server/metrics/other_queues.h"

namespace skiplane::metrics {

inline constexpr size_t kQueuesMax = 1000;  // 35 lines each: a page of some megabytes at most

class QueueMetrics {
 public:
  explicit QueueMetrics(Registry& registry);
  ~QueueMetrics();

  void Enqueued(absl::string_view queue, absl::string_view result, int64_t tasks);
  void Leased(absl::string_view queue, absl::string_view kind, int64_t tasks);
  void AttemptEnded(absl::string_view queue, absl::string_view outcome, int64_t tasks);
  void Finished(absl::string_view queue, absl::string_view outcome, int64_t tasks);
  void Waited(absl::string_view queue, absl::Duration wait);
  void Lagged(absl::string_view queue, absl::Duration lag);
  void Set(absl::string_view queue, const QueueGauges& gauges);
  void SetWaitingLeases(absl::string_view queue, int64_t calls);
  void Remove(absl::string_view queue);

 private:
  struct Families;
  struct Series;

  // Null: the queue is one of "__other__".
  Series* OwnSeries(absl::string_view queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Series& SeriesOf(absl::string_view queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Series& Other() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<Families> families_;
  base::Mutex mutex_;
  absl::flat_hash_map<std::string, std::unique_ptr<Series>> queues_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Series> other_ ABSL_GUARDED_BY(mutex_);  // null until a queue needs it
  OtherQueues other_queues_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::metrics
