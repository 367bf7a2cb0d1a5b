#include "server/metrics/queue_metrics.h"

#include <utility>

namespace skiplane::metrics {
namespace {

constexpr absl::string_view kOther = "__other__";

}  // namespace

void QueueMetrics::Pin(std::vector<std::string> patterns) {
  base::MutexLock lock(mutex_);
  names_.Pin(std::move(patterns));
}

// Who loses the name shows up among the others with the next sample.
void QueueMetrics::Name(const std::vector<std::string>& names) {
  base::MutexLock lock(mutex_);
  names_.Rank(names);
  absl::erase_if(queues_, [this](const auto& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !names_.MayStay(entry.first);
  });
}

void QueueMetrics::Enqueued(absl::string_view queue, absl::string_view result, int64_t tasks) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).enqueued.At(result).Increment(static_cast<double>(tasks));
}

void QueueMetrics::Leased(absl::string_view queue, absl::string_view kind, int64_t tasks) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).leased.At(kind).Increment(static_cast<double>(tasks));
}

void QueueMetrics::AttemptEnded(absl::string_view queue, absl::string_view outcome,
                                int64_t tasks) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).attempts.At(outcome).Increment(static_cast<double>(tasks));
}

void QueueMetrics::Finished(absl::string_view queue, absl::string_view outcome, int64_t tasks) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).finished.At(outcome).Increment(static_cast<double>(tasks));
}

void QueueMetrics::Waited(absl::string_view queue, absl::Duration wait) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).wait.Observe(wait);
}

void QueueMetrics::Ran(absl::string_view queue, absl::Span<const absl::Duration> times) {
  base::MutexLock lock(mutex_);
  LateHistogram& run = SeriesOf(queue).run;
  for (const absl::Duration time : times) run.Observe(time);
}

void QueueMetrics::Lagged(absl::string_view queue, absl::Duration lag) {
  base::MutexLock lock(mutex_);
  SeriesOf(queue).lag.Observe(lag);
}

void QueueMetrics::Set(absl::string_view queue, const QueueGauges& gauges) {
  base::MutexLock lock(mutex_);
  if (QueueSeries* const own = OwnSeries(queue); own != nullptr) {
    own->Show(SampleOf(gauges, static_cast<int64_t>(own->waiting.Value())));
    own->ShowStages(gauges.stages);
    return;
  }
  other_queues_.Set(queue, gauges);
  Other().Show(other_queues_.Total());
}

void QueueMetrics::SetWaitingLeases(absl::string_view queue, int64_t calls) {
  base::MutexLock lock(mutex_);
  if (QueueSeries* const own = OwnSeries(queue); own != nullptr) {
    own->waiting.Set(static_cast<double>(calls));
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

QueueSeries* QueueMetrics::OwnSeries(absl::string_view queue) {
  const auto found = queues_.find(queue);
  if (found != queues_.end()) return found->second.get();
  if (!names_.MayJoin(queue, queues_.size())) return nullptr;
  auto& series = queues_[queue];
  series = std::make_unique<QueueSeries>(families_, queue);
  if (other_ != nullptr) {
    series->Show(other_queues_.Take(queue));
    other_->Show(other_queues_.Total());
  }
  return series.get();
}

QueueSeries& QueueMetrics::SeriesOf(absl::string_view queue) {
  QueueSeries* const own = OwnSeries(queue);
  return own != nullptr ? *own : Other();
}

QueueSeries& QueueMetrics::Other() {
  if (other_ == nullptr) other_ = std::make_unique<QueueSeries>(families_, kOther);
  return *other_;
}

}  // namespace skiplane::metrics
