// Looks at a lane without touching it: from the start of each priority up to the first free task.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"
#include "server/store/lease.h"

namespace skiplane::broker {

struct LookResult {
  std::vector<int16_t> priorities;       // that occur in the lane
  std::vector<store::Bound> first_free;  // the first free task of each priority that has one
  int64_t free = 0;  // tasks seen free; Lane::kMany when a slice was full of them
  std::optional<absl::Duration> next_due_in;
};

// Costs a few index entries when nothing stands before the first free task, else 0.6 ms per 2,000
// leased tasks before it.
absl::StatusOr<LookResult> Look(pg::Session& session, int64_t lane, int16_t stage);

}  // namespace skiplane::broker
