#include "server/broker/observe/rate_meter.h"

#include <algorithm>
#include <chrono>

namespace skiplane::broker {

Rates RateMeter::Note(int64_t queue, const model::QueueCounts& counts, base::SteadyTime now) {
  const int64_t ended = counts.succeeded + counts.failed + counts.cancelled;
  const Sample sample{now, counts.scheduled + counts.ready + counts.leased + ended,
                      counts.succeeded, counts.failed};
  Series& series = series_[queue];
  std::deque<Sample>& samples = series.samples;
  series.noted = now;
  if (samples.empty() && last_look_.has_value() && queue > newest_) {
    samples.push_back({.time = *last_look_});
  }
  // Of samples that are old enough the last one is where the minute begins: nothing changed until
  // the next one.
  while (samples.size() > 1 && samples[1].time <= now - kSpan) samples.pop_front();
  if (!samples.empty()) samples[0].time = std::max(samples[0].time, now - kSpan);
  const bool is_new = samples.empty() || samples.back().enqueued != sample.enqueued ||
                      samples.back().succeeded != sample.succeeded ||
                      samples.back().failed != sample.failed;
  if (is_new) samples.push_back(sample);
  const Sample& first = samples.front();
  const double seconds = std::chrono::duration<double>(now - first.time).count();
  if (seconds < 1) return {};
  const auto rate = [seconds](int64_t from, int64_t to) {
    return static_cast<double>(std::max<int64_t>(0, to - from)) / seconds;
  };
  return {rate(first.enqueued, sample.enqueued), rate(first.succeeded, sample.succeeded),
          rate(first.failed, sample.failed)};
}

void RateMeter::EndLook(base::SteadyTime now) {
  for (const auto& [queue, series] : series_) newest_ = std::max(newest_, queue);
  absl::erase_if(series_, [now](const auto& entry) { return entry.second.noted < now; });
  last_look_ = now;
}

}  // namespace skiplane::broker
