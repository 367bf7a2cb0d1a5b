#include "server/broker/sampler.h"

#include <algorithm>

#include "server/store/counts.h"
#include "server/store/sessions.h"
#include "server/store/sweep.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::seconds kEvery(5);
constexpr int kProbeRows = 2000;

// How long the oldest ready task of a lane has been due, as far as a bounded probe sees.
absl::Duration OldestAge(pg::Session& session, int64_t lane) {
  absl::Duration oldest;
  const auto priorities = store::Priorities(session, lane, 0);
  if (!priorities.ok()) return oldest;
  for (const store::PriorityView& view : *priorities) {
    const store::Bound start{view.priority, absl::InfinitePast(), 0};
    const auto slice = store::Sweep(session, lane, 0, start, kProbeRows);
    if (slice.ok()) oldest = std::max(oldest, slice->oldest_age);
  }
  return oldest;
}

}  // namespace

void Sampler::Start() {
  context_.pool.Submit([this](absl::StatusOr<pg::Session*> session) {
    if (session.ok()) Run(**session);
    context_.timer.After(kEvery, [this] { Start(); });
  });
}

void Sampler::Run(pg::Session& session) {
  const auto counts = store::ReadCounts(session);
  const auto workers = store::CountWorkers(session);
  if (!counts.ok() || !workers.ok()) return;
  context_.metrics.SetWorkers(*workers);
  for (const QueuePtr& queue : queues_.All()) {
    metrics::QueueGauges gauges;
    gauges.pause_mode = static_cast<int>(queue->pause);
    for (const int64_t lane : queue->lanes) {
      const auto found = counts->find(lane);
      if (found == counts->end()) continue;
      gauges.scheduled += found->second.scheduled;
      gauges.ready += found->second.ready;
      gauges.leased += found->second.leased;
      if (found->second.ready > 0) {
        gauges.oldest_ready_age = std::max(gauges.oldest_ready_age, OldestAge(session, lane));
      }
    }
    context_.metrics.SetQueue(queue->name, gauges);
  }
  for (const auto& [queue, calls] : dispatcher_.WaitingCalls()) {
    context_.metrics.SetWaitingLeases(queue, calls);
  }
}

}  // namespace skiplane::broker
