#include "server/broker/lease/wanted.h"

#include <algorithm>
#include <random>

#include "absl/container/flat_hash_set.h"

namespace skiplane::broker {
namespace {

std::mt19937_64& Random() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return generator;
}

// The order in which the caller's queues are asked.
std::vector<size_t> OrderOf(const LeaseCall& call) {
  std::vector<size_t> open(call.queues.size());
  for (size_t i = 0; i < open.size(); ++i) open[i] = i;
  if (call.strict_order || open.size() == 1) return open;
  std::vector<size_t> order;
  while (!open.empty()) {
    std::vector<int> weights;
    for (const size_t i : open) weights.push_back(call.queues[i].weight);
    std::discrete_distribution<size_t> draw(weights.begin(), weights.end());
    const size_t drawn = draw(Random());
    order.push_back(open[drawn]);
    open.erase(open.begin() + static_cast<ptrdiff_t>(drawn));
  }
  return order;
}

std::vector<model::LaneStage> LaneStagesOf(const model::Queue& queue, const LeaseQueue& asked) {
  std::vector<int64_t> lanes = queue.lanes;
  const size_t first = lanes.size() == 1 ? 0 : Random()() % lanes.size();
  std::rotate(lanes.begin(), lanes.begin() + static_cast<ptrdiff_t>(first), lanes.end());
  const auto only = queue.settings.FindStage(asked.stage);
  std::vector<model::LaneStage> lane_stages;
  for (int16_t stage = queue.settings.StageCount(); stage-- > 0;) {
    if (only.has_value() && stage != *only) continue;
    for (const int64_t lane : lanes) lane_stages.push_back({lane, stage});
  }
  return lane_stages;
}

}  // namespace

std::vector<Ticket::Wanted> WantedOf(const LeaseCall& call, const std::vector<QueuePtr>& queues) {
  std::vector<Ticket::Wanted> wanted;
  absl::flat_hash_set<model::LaneStage> known;  // a call may name a queue and a stage of it
  for (const size_t i : OrderOf(call)) {
    for (const model::LaneStage lane_stage : LaneStagesOf(*queues[i], call.queues[i])) {
      if (queues.size() > 1 && !known.insert(lane_stage).second) continue;
      wanted.push_back({lane_stage, queues[i], i});
    }
  }
  return wanted;
}

int64_t CountLaneStages(const LeaseCall& call, const std::vector<QueuePtr>& queues) {
  absl::flat_hash_set<absl::string_view> whole;
  for (const LeaseQueue& asked : call.queues) {
    if (asked.stage.empty()) whole.insert(asked.name);
  }
  int64_t count = 0;
  for (size_t i = 0; i < queues.size(); ++i) {
    const LeaseQueue& asked = call.queues[i];
    const auto lanes = static_cast<int64_t>(queues[i]->lanes.size());
    if (asked.stage.empty()) {
      count += lanes * queues[i]->settings.StageCount();
    } else if (!whole.contains(asked.name)) {
      count += lanes;
    }
  }
  return count;
}

std::vector<int64_t> MostOf(const LeaseCall& call) {
  const bool has_limit = std::any_of(call.queues.begin(), call.queues.end(),
                                     [](const LeaseQueue& queue) { return queue.max_tasks > 0; });
  if (!has_limit) return {};
  std::vector<int64_t> most;
  for (const LeaseQueue& queue : call.queues) {
    most.push_back(queue.max_tasks > 0 ? queue.max_tasks : call.max_tasks);
  }
  return most;
}

}  // namespace skiplane::broker
