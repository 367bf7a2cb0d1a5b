#include "server/broker/sampler.h"

#include <algorithm>
#include <vector>

#include "server/store/counts.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::seconds kEvery(5);

std::vector<model::LaneStage> PlacesOf(const model::Queue& queue) {
  std::vector<model::LaneStage> places;
  for (const int64_t lane : queue.lanes) {
    for (int16_t stage = 0; stage < queue.settings.StageCount(); ++stage) {
      places.push_back({lane, stage});
    }
  }
  return places;
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
  std::vector<model::LaneStage> ready;
  for (const auto& [place, count] : *counts) {
    if (count.ready > 0) ready.push_back(place);
  }
  std::sort(ready.begin(), ready.end());
  ages_.Run(session, ready);
  for (const QueuePtr& queue : queues_.All()) {
    metrics::QueueGauges gauges;
    gauges.pause_mode = static_cast<int>(queue->pause);
    for (const model::LaneStage place : PlacesOf(*queue)) {
      const auto found = counts->find(place);
      if (found == counts->end()) continue;
      gauges.scheduled += found->second.scheduled;
      gauges.ready += found->second.ready;
      gauges.leased += found->second.leased;
      gauges.oldest_ready_age = std::max(gauges.oldest_ready_age, ages_.AgeOf(place));
    }
    context_.metrics.SetQueue(queue->name, gauges);
  }
  for (const auto& [queue, calls] : dispatcher_.WaitingCalls()) {
    context_.metrics.SetWaitingLeases(queue, calls);
  }
}

}  // namespace skiplane::broker
