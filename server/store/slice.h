// Reads a lane without locks: its priorities, its ready tasks, the next due time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"
#include "server/store/lease.h"

namespace skiplane::store {

struct PriorityView {
  int16_t priority = 0;
  // How long until the next task becomes due; unset: none is scheduled.
  std::optional<absl::Duration> next_due_in;
};

// Most urgent first. Costs an index entry or two per priority.
absl::StatusOr<std::vector<PriorityView>> Priorities(pg::Session& session, int64_t lane,
                                                     int16_t stage);

struct Slice {
  int64_t seen = 0;  // less than asked for: the end was reached
  int64_t ready = 0;
  std::optional<Bound> first_ready;  // its own key
  std::optional<Bound> last_seen;
  absl::Duration oldest_age;         // of the first ready one
  bool has_packs = false;            // with ready ones
};

// Looks at up to `rows` tasks of one priority that are due, after `from`, in the order of leases.
absl::StatusOr<Slice> ReadSlice(pg::Session& session, int64_t lane, int16_t stage,
                                const Bound& from, int rows);

}  // namespace skiplane::store
