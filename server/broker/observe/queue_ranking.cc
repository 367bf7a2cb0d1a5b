#include "server/broker/observe/queue_ranking.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace skiplane::broker {
namespace {

struct Merit {
  bool is_active = false;
  int64_t finished = 0;
  std::string name;
};

Merit MeritOf(const model::Queue& queue, const store::Counts& counts,
              const absl::flat_hash_set<int64_t>& active_lanes) {
  Merit merit;
  merit.name = queue.name;
  for (const int64_t lane : queue.lanes) {
    merit.is_active = merit.is_active || active_lanes.contains(lane);
    for (int16_t stage = 0; stage < queue.settings.StageCount(); ++stage) {
      const auto found = counts.find(model::LaneStage{lane, stage});
      if (found == counts.end()) continue;
      const model::QueueCounts& count = found->second;
      merit.is_active = merit.is_active || count.scheduled + count.ready + count.leased > 0;
      merit.finished += count.succeeded + count.failed + count.cancelled + count.moved;
    }
  }
  return merit;
}

}  // namespace

std::vector<std::string> RankQueues(const std::vector<QueuePtr>& queues,
                                    const store::Counts& counts,
                                    const absl::flat_hash_set<int64_t>& active_lanes) {
  std::vector<Merit> merits;
  for (const QueuePtr& queue : queues) merits.push_back(MeritOf(*queue, counts, active_lanes));
  std::ranges::sort(merits, [](const Merit& a, const Merit& b) {
    return std::tie(b.is_active, b.finished, a.name) < std::tie(a.is_active, a.finished, b.name);
  });
  std::vector<std::string> names;
  for (Merit& merit : merits) names.push_back(std::move(merit.name));
  return names;
}

}  // namespace skiplane::broker
