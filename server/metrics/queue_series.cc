#include "server/metrics/queue_series.h"

#include <algorithm>
#include <iterator>

namespace skiplane::metrics {
namespace {

const Buckets& WaitBuckets() {
  static const Buckets* const buckets = new Buckets{0.001, 0.005, 0.01, 0.05, 0.1,  0.5,  1,
                                                    5,     10,    60,   300,  1800, 7200, 86400};
  return *buckets;
}

// From the shortest tasks to the longest that a worker can hold.
const Buckets& RunBuckets() {
  static const Buckets* const buckets = new Buckets{0.005, 0.025, 0.1, 0.5,  1,     5,    15,
                                                    60,    300,   900, 3600, 14400, 43200};
  return *buckets;
}

template <typename Number>
double ToDouble(Number number) {
  return static_cast<double>(number);
}

}  // namespace

QueueFamilies::QueueFamilies(Registry& registry)
    : enqueued(NewCounter(registry, "skiplane_tasks_enqueued_total",
                          "Tasks that Enqueue answered, by whether they were new.")),
      leased(NewCounter(registry, "skiplane_tasks_leased_total",
                        "Tasks handed to workers, by whether it was their first attempt.")),
      attempts(NewCounter(registry, "skiplane_task_attempts_total",
                          "Attempts that ended, by how they ended.")),
      finished(NewCounter(registry, "skiplane_tasks_finished_total",
                          "Tasks that will not run again, by how they finished.")),
      tasks(NewGauge(registry, "skiplane_queue_tasks", "Unfinished tasks by state.")),
      stage_tasks(NewGauge(registry, "skiplane_queue_stage_tasks",
                           "Unfinished tasks of a queue with stages, by stage and state.")),
      oldest_ready(NewGauge(registry, "skiplane_queue_oldest_ready_age_seconds",
                            "How long the oldest ready task has been ready; 0 if there is none.")),
      oldest_attempt(NewGauge(registry, "skiplane_queue_oldest_attempt_age_seconds",
                              "How long the oldest running attempt runs; 0 if there is none.")),
      dead_letters(NewGauge(registry, "skiplane_queue_failed_tasks",
                            "Failed tasks that are kept.")),
      paused(NewGauge(registry, "skiplane_queue_paused",
                      "1 if this is paused; in __other__ the number of such queues.")),
      waiting(NewGauge(registry, "skiplane_queue_waiting_leases",
                       "Lease calls that wait in this broker for a task of the queue.")),
      wait(NewHistogram(registry, "skiplane_task_wait_seconds",
                        "Time from a task's schedule time to its lease.")),
      run(NewHistogram(registry, "skiplane_task_run_seconds",
                       "Time from the lease of a task to its settlement by the worker.")),
      lag(NewHistogram(registry, "skiplane_schedule_lag_seconds",
                       "Time from a periodic task's planned time to its first lease.")) {}

LateHistogram::~LateHistogram() {
  if (histogram_ != nullptr) family_.Remove(histogram_);
}

void LateHistogram::Observe(absl::Duration time) {
  if (histogram_ == nullptr) histogram_ = &family_.Add(labels_, buckets_);
  histogram_->Observe(std::max(0.0, absl::ToDoubleSeconds(time)));
}

QueueSeries::QueueSeries(QueueFamilies& families, absl::string_view queue)
    : QueueSeries(families, prometheus::Labels{{"queue", std::string(queue)}}) {}

QueueSeries::QueueSeries(QueueFamilies& families, const prometheus::Labels& queue)
    : enqueued(families.enqueued, {"outcome", queue, {}}, {"created", "existing"}),
      leased(families.leased, {"kind", queue, {}}, {"first", "retry"}),
      attempts(families.attempts, {"outcome", queue, {}},
               {"succeeded", "retried", "released", "failed", "lost"}),
      finished(families.finished, {"outcome", queue, {}}, {"succeeded", "failed"}),
      waiting(families.waiting.Add(queue)),
      wait(families.wait, queue, WaitBuckets()),
      run(families.run, queue, RunBuckets()),
      lag(families.lag, queue, WaitBuckets()),
      families_(families),
      labels_(queue),
      tasks_(families.tasks, {"state", queue, {}}, {"scheduled", "ready", "leased"}),
      paused_(families.paused, {"mode", queue, {}}, {"lease", "enqueue"}),
      oldest_ready_(families.oldest_ready.Add(queue)),
      oldest_attempt_(families.oldest_attempt.Add(queue)),
      dead_letters_(families.dead_letters.Add(queue)) {}

QueueSeries::~QueueSeries() {
  enqueued.RemoveAll();
  leased.RemoveAll();
  attempts.RemoveAll();
  finished.RemoveAll();
  tasks_.RemoveAll();
  paused_.RemoveAll();
  for (auto& [stage, series] : stages_) series.RemoveAll();
  families_.waiting.Remove(&waiting);
  families_.oldest_ready.Remove(&oldest_ready_);
  families_.oldest_attempt.Remove(&oldest_attempt_);
  families_.dead_letters.Remove(&dead_letters_);
}

void QueueSeries::Show(const QueueSample& sample) {
  tasks_.At("scheduled").Set(ToDouble(sample.scheduled));
  tasks_.At("ready").Set(ToDouble(sample.ready));
  tasks_.At("leased").Set(ToDouble(sample.leased));
  paused_.At("lease").Set(ToDouble(sample.paused_leases));
  paused_.At("enqueue").Set(ToDouble(sample.paused_enqueues));
  oldest_ready_.Set(absl::ToDoubleSeconds(sample.oldest_ready_age));
  oldest_attempt_.Set(absl::ToDoubleSeconds(sample.oldest_attempt_age));
  dead_letters_.Set(ToDouble(sample.dead_letters));
  waiting.Set(ToDouble(sample.waiting_leases));
}

void QueueSeries::ShowStages(const std::map<std::string, TaskGauges>& stages) {
  for (auto stage = stages_.begin(); stage != stages_.end();) {
    const bool is_over = !stages.contains(stage->first);
    if (is_over) stage->second.RemoveAll();
    stage = is_over ? stages_.erase(stage) : std::next(stage);
  }
  for (const auto& [stage, gauges] : stages) {
    prometheus::Labels labels = labels_;
    labels.emplace("stage", stage);
    SeriesSet<Gauge>& series =
        stages_.try_emplace(stage, families_.stage_tasks,
                            SeriesSet<Gauge>::Options{"state", labels, {}})
            .first->second;
    series.At("scheduled").Set(ToDouble(gauges.scheduled));
    series.At("ready").Set(ToDouble(gauges.ready));
    series.At("leased").Set(ToDouble(gauges.leased));
  }
}

}  // namespace skiplane::metrics
