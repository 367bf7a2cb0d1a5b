#include "server/upkeep/lane_owners.h"

#include "server/base/status_macros.h"
#include "server/store/queues.h"

namespace skiplane::upkeep {
namespace {

constexpr int kQueuesAtOnce = 500;

}  // namespace

absl::Status LaneOwners::Load(pg::Session& session) {
  owners_.clear();
  std::string last;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<model::Queue> queues,
                     store::ListQueues(session, last, kQueuesAtOnce));
    for (const model::Queue& queue : queues) {
      for (int64_t lane : queue.lanes) owners_[lane] = {queue.name, queue.settings};
    }
    if (queues.size() < kQueuesAtOnce) return absl::OkStatus();
    last = queues.back().name;
  }
}

const LaneOwner* LaneOwners::Find(int64_t lane) const {
  const auto found = owners_.find(lane);
  return found == owners_.end() ? nullptr : &found->second;
}

std::vector<int64_t> LaneOwners::Lanes() const {
  std::vector<int64_t> lanes;
  for (const auto& [lane, owner] : owners_) lanes.push_back(lane);
  return lanes;
}

}  // namespace skiplane::upkeep
