// The metrics that carry a queue's name, and the series of one name. The histograms and the stages
// are there once there is something to show. Not thread-safe: the owner locks.
#pragma once

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/metrics/families.h"
#include "server/metrics/metrics.h"
#include "server/metrics/other_queues.h"
#include "server/metrics/series.h"

namespace skiplane::metrics {

struct QueueFamilies {
  explicit QueueFamilies(Registry& registry);

  Family<Counter>& enqueued;
  Family<Counter>& leased;
  Family<Counter>& attempts;
  Family<Counter>& finished;
  Family<Gauge>& tasks;
  Family<Gauge>& stage_tasks;
  Family<Gauge>& oldest_ready;
  Family<Gauge>& oldest_attempt;
  Family<Gauge>& dead_letters;
  Family<Gauge>& paused;
  Family<Gauge>& waiting;
  Family<Histogram>& wait;
  Family<Histogram>& run;
  Family<Histogram>& lag;
};

// A histogram that begins with its first value. It goes with the object.
class LateHistogram {
 public:
  LateHistogram(Family<Histogram>& family, const prometheus::Labels& labels,
                const Buckets& buckets)
      : family_(family), labels_(labels), buckets_(buckets) {}
  ~LateHistogram();
  LateHistogram(const LateHistogram&) = delete;
  LateHistogram& operator=(const LateHistogram&) = delete;

  // Of a time below zero, as clocks may tell, zero is taken.
  void Observe(absl::Duration time);

 private:
  Family<Histogram>& family_;
  const prometheus::Labels labels_;
  const Buckets& buckets_;
  Histogram* histogram_ = nullptr;
};

class QueueSeries {
 public:
  QueueSeries(QueueFamilies& families, absl::string_view queue);
  ~QueueSeries();
  QueueSeries(const QueueSeries&) = delete;
  QueueSeries& operator=(const QueueSeries&) = delete;

  void Show(const QueueSample& sample);
  // Of all stages of the queue; those that are not among them have no series any more.
  void ShowStages(const std::map<std::string, TaskGauges>& stages);

  SeriesSet<Counter> enqueued;
  SeriesSet<Counter> leased;
  SeriesSet<Counter> attempts;
  SeriesSet<Counter> finished;
  Gauge& waiting;
  LateHistogram wait;
  LateHistogram run;
  LateHistogram lag;

 private:
  QueueSeries(QueueFamilies& families, const prometheus::Labels& queue);

  QueueFamilies& families_;
  const prometheus::Labels labels_;
  SeriesSet<Gauge> tasks_;
  SeriesSet<Gauge> paused_;
  Gauge& oldest_ready_;
  Gauge& oldest_attempt_;
  Gauge& dead_letters_;
  std::map<std::string, SeriesSet<Gauge>> stages_;
};

}  // namespace skiplane::metrics
