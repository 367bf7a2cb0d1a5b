#include "server/metrics/queue_metrics.h"

#include <algorithm>

#include "server/metrics/series.h"

namespace skiplane::metrics {
namespace {

constexpr absl::string_view kOther = "__other__";

const Buckets& WaitBuckets() {
  static const Buckets* const buckets = new Buckets{0.001, 0.005, 0.01, 0.05, 0.1,  0.5,  1,
                                                    5,     10,    60,   300,  1800, 7200, 86400};
  return *buckets;
}

template <typename Number>
double ToDouble(Number number) {
  return static_cast<double>(number);
}

}  // namespace

struct QueueMetrics::Families {
  explicit Families(Registry& registry)
      : enqueued(NewCounter(registry, "skiplane_tasks_enqueued_total",
                            "Tasks that Enqueue answered, by whether they were new.")),
        leased(NewCounter(registry, "skiplane_tasks_leased_total",
                          "Tasks handed to workers, by whether it was their first attempt.")),
        attempts(NewCounter(registry, "skiplane_task_attempts_total",
                            "Attempts that ended, by how they ended.")),
        finished(NewCounter(registry, "skiplane_tasks_finished_total",
                            "Tasks that will not run again, by how they finished.")),
        tasks(NewGauge(registry, "skiplane_queue_tasks", "Unfinished tasks by state.")),
        oldest(NewGauge(registry, "skiplane_queue_oldest_ready_age_seconds",
                        "How long the oldest ready task has been ready; 0 if there is none.")),
        paused(NewGauge(registry, "skiplane_queue_paused",
                        "1 if this is paused; in __other__ the number of such queues.")),
        waiting(NewGauge(registry, "skiplane_queue_waiting_leases",
                         "Lease calls that wait in this broker for a task of the queue.")),
        wait(NewHistogram(registry, "skiplane_task_queue_wait_seconds",
                          "Time from a task's run time to its lease.")),
        lag(NewHistogram(registry, "skiplane_schedule_lag_seconds",
                         "Time from a periodic task's planned time to its first lease.")) {}

  Family<Counter>& enqueued;
  Family<Counter>& leased;
  Family<Counter>& attempts;
  Family<Counter>& finished;
  Family<Gauge>& tasks;
  Family<Gauge>& oldest;
  Family<Gauge>& paused;
  Family<Gauge>& waiting;
  Family<Histogram>& wait;
  Family<Histogram>& lag;
};

struct QueueMetrics::Series {
  Series(Families& to, absl::string_view queue)
      : Series(to, prometheus::Labels{{"queue", std::string(queue)}}) {}

  Series(Families& to, const prometheus::Labels& queue)
      : families(to),
        labels(queue),
        enqueued(to.enqueued, {"result", queue, {}}, {"created", "existing"}),
        leased(to.leased, {"kind", queue, {}}, {"first", "retry"}),
        attempts(to.attempts, {"outcome", queue, {}},
                 {"acked", "retried", "released", "failed", "lost"}),
        finished(to.finished, {"outcome", queue, {}}, {"succeeded", "failed"}),
        tasks(to.tasks, {"state", queue, {}}, {"scheduled", "ready", "leased"}),
        paused(to.paused, {"mode", queue, {}}, {"lease", "enqueue"}),
        oldest(to.oldest.Add(queue)),
        waiting(to.waiting.Add(queue)),
        wait(to.wait.Add(queue, WaitBuckets())) {}

  ~Series() {
    enqueued.RemoveAll();
    leased.RemoveAll();
    attempts.RemoveAll();
    finished.RemoveAll();
    tasks.RemoveAll();
    paused.RemoveAll();
    families.oldest.Remove(&oldest);
    families.waiting.Remove(&waiting);
    families.wait.Remove(&wait);
    if (lag != nullptr) families.lag.Remove(lag);
  }
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  // Most queues have no periodic tasks, and no lines about them.
  Histogram& Lag() {
    if (lag == nullptr) lag = &families.lag.Add(labels, WaitBuckets());
    return *lag;
  }

  void Show(const QueueSample& sample) {
    tasks.At("scheduled").Set(ToDouble(sample.scheduled));
    tasks.At("ready").Set(ToDouble(sample.ready));
    tasks.At("leased").Set(ToDouble(sample.leased));
    paused.At("lease").Set(ToDouble(sample.paused_leases));
    paused.At("enqueue").Set(ToDouble(sample.paused_enqueues));
    oldest.Set(absl::ToDoubleSeconds(sample.oldest_ready_age));
    waiting.Set(ToDouble(sample.waiting_leases));
  }

  Families& families;
  const prometheus::Labels labels;
  SeriesSet<Counter> enqueued;
  SeriesSet<Counter> leased;
  SeriesSet<Counter> attempts;
  SeriesSet<Counter> finished;
  SeriesSet<Gauge> tasks;
  SeriesSet<Gauge> paused;
  Gauge& oldest;
  Gauge& waiting;
  Histogram& wait;
  Histogram* lag = nullptr;
};

QueueMetrics::QueueMetrics(Registry& registry) : families_(std::make_unique<Families>(registry)) {}

QueueMetrics::~QueueMetrics() = default;

void QueueMetrics::Enqueued(absl::string_view queue, absl::string_view result, int64_t tasks) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).enqueued.At(result).Increment(ToDouble(tasks));
}

void QueueMetrics::Leased(absl::string_view queue, absl::string_view kind, int64_t tasks) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).leased.At(kind).Increment(ToDouble(tasks));
}

void QueueMetrics::AttemptEnded(absl::string_view queue, absl::string_view outcome,
                                int64_t tasks) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).attempts.At(outcome).Increment(ToDouble(tasks));
}

void QueueMetrics::Finished(absl::string_view queue, absl::string_view outcome, int64_t tasks) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).finished.At(outcome).Increment(ToDouble(tasks));
}

void QueueMetrics::Waited(absl::string_view queue, absl::Duration wait) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).wait.Observe(std::max(0.0, absl::ToDoubleSeconds(wait)));
}

void QueueMetrics::Lagged(absl::string_view queue, absl::Duration lag) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).Lag().Observe(std::max(0.0, absl::ToDoubleSeconds(lag)));
}

void QueueMetrics::Set(absl::string_view queue, const QueueGauges& gauges) {
  base::MutexLock lock(mutex_);
  if (Series* const own = OwnSeries(queue); own != nullptr) {
    own->Show(SampleOf(gauges, static_cast<int64_t>(own->waiting.Value())));
    return;
  }
  other_queues_.Set(queue, gauges);
  Other().Show(other_queues_.Total());
}

void QueueMetrics::SetWaitingLeases(absl::string_view queue, int64_t calls) {
  base::MutexLock lock(mutex_);
  if (Series* const own = OwnSeries(queue); own != nullptr) {
    own->waiting.Set(ToDouble(calls));
    return;
  }
  other_queues_.SetWaitingLeases(queue, calls);
  Other().Show(other_queues_.Total());
}

void QueueMetrics::Remove(absl::string_view queue) {
  base::MutexLock lock(mutex_);
  queues_.erase(queue);
  other_queues_.Take(queue);
  if (other_ != nullptr) other_->Show(other_queues_.Total());
}

QueueMetrics::Series* QueueMetrics::OwnSeries(absl::string_view queue) {
  const auto found = queues_.find(queue);
  if (found != queues_.end()) return found->second.get();
  if (queues_.size() >= kQueuesMax) return nullptr;
  auto& series = queues_[queue];
  series = std::make_unique<Series>(*families_, queue);
  if (other_ != nullptr) {
    series->Show(other_queues_.Take(queue));
    other_->Show(other_queues_.Total());
  }
  return series.get();
}

QueueMetrics::Series& QueueMetrics::SeriesOf(absl::string_view queue) {
  Series* const own = OwnSeries(queue);
  return own != nullptr ? *own : Other();
}

QueueMetrics::Series& QueueMetrics::Other() {
  if (other_ == nullptr) other_ = std::make_unique<Series>(*families_, kOther);
  return *other_;
}

}  // namespace skiplane::metrics
