#include "server/broker/observe/summary_change.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace skiplane::broker {
namespace {

bool AreApart(double told, double seen) {
  const double larger = std::max(std::abs(told), std::abs(seen));
  return (told == 0) != (seen == 0) || std::abs(told - seen) > larger / 10;
}

bool AreApart(absl::Duration told, absl::Duration seen) {
  return AreApart(absl::ToDoubleSeconds(told), absl::ToDoubleSeconds(seen));
}

bool AreApart(const Rates& told, const Rates& seen) {
  return AreApart(told.enqueued, seen.enqueued) || AreApart(told.succeeded, seen.succeeded) ||
         AreApart(told.failed, seen.failed);
}

bool AreSame(const std::vector<StageReport>& told, const std::vector<StageReport>& seen) {
  return std::equal(told.begin(), told.end(), seen.begin(), seen.end(),
                    [](const StageReport& one, const StageReport& other) {
                      return one.counts == other.counts;
                    });
}

}  // namespace

bool IsChange(const QueueSummary& told, const QueueSummary& seen) {
  const QueueWithCounts& before = told.counted;
  const QueueWithCounts& now = seen.counted;
  return before.queue.id != now.queue.id || before.queue.version != now.queue.version ||
         before.queue.pause != now.queue.pause ||
         before.queue.pause_reason != now.queue.pause_reason || before.counts != now.counts ||
         !AreSame(before.stages, now.stages) ||
         told.look.dead_letters != seen.look.dead_letters ||
         AreApart(told.look.rates, seen.look.rates) ||
         (now.counts.ready > 0 &&
          AreApart(told.look.oldest_ready_age, seen.look.oldest_ready_age)) ||
         (now.counts.leased > 0 &&
          AreApart(told.look.oldest_attempt_age, seen.look.oldest_attempt_age));
}

int64_t WeightOf(const QueueSummary& summary) {
  constexpr int64_t kFixed = 200;
  constexpr int64_t kOfStage = 100;
  const model::Queue& queue = summary.counted.queue;
  int64_t bytes = kFixed + static_cast<int64_t>(queue.name.size() + queue.pause_reason.size());
  for (const model::Stage& stage : queue.settings.stages) {
    bytes += kOfStage + static_cast<int64_t>(stage.name.size());
  }
  return bytes;
}

}  // namespace skiplane::broker
