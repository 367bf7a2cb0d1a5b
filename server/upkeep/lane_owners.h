// Which queue each lane belongs to, as read at the beginning of a pass. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/model/queue.h"
#include "server/pg/session.h"

namespace skiplane::upkeep {

struct LaneOwner {
  std::string queue;
  model::QueueSettings settings;
};

class LaneOwners {
 public:
  // Replaces what was known.
  absl::Status Load(pg::Session& session);

  // Null if no queue has this lane.
  const LaneOwner* Find(int64_t lane) const;

  std::vector<int64_t> Lanes() const;

 private:
  absl::flat_hash_map<int64_t, LaneOwner> owners_;
};

}  // namespace skiplane::upkeep
