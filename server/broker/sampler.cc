#include "server/broker/sampler.h"

#include <algorithm>
#include <vector>

#include "server/store/counts.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::seconds kEvery(5);

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
  std::vector<int64_t> ready_lanes;
  for (const auto& [lane, count] : *counts) {
    if (count.ready > 0) ready_lanes.push_back(lane);
  }
  std::sort(ready_lanes.begin(), ready_lanes.end());
  ages_.Run(session, ready_lanes);
  for (const QueuePtr& queue : queues_.All()) {
    metrics::QueueGauges gauges;
    gauges.pause_mode = static_cast<int>(queue->pause);
    for (const int64_t lane : queue->lanes) {
      const auto found = counts->find(lane);
      if (found == counts->end()) continue;
      gauges.scheduled += found->second.scheduled;
      gauges.ready += found->second.ready;
      gauges.leased += found->second.leased;
      gauges.oldest_ready_age = std::max(gauges.oldest_ready_age, ages_.AgeOf(lane));
    }
    context_.metrics.SetQueue(queue->name, gauges);
  }
  for (const auto& [queue, calls] : dispatcher_.WaitingCalls()) {
    context_.metrics.SetWaitingLeases(queue, calls);
  }
}

}  // namespace skiplane::broker
