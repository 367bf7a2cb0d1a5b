// Deletes settled records, answered request ids, operators' among them, and keys of finished tasks
// when their time is over; also statistics of more than a year ago.
// Not thread-safe.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/pg/session.h"
#include "server/upkeep/lane_owners.h"
#include "server/upkeep/round.h"

namespace skiplane::upkeep {

struct RetentionResult {
  int64_t settled = 0;         // rows that went
  int64_t requests = 0;        // rows that went
  int64_t admin_requests = 0;  // rows that went
  int64_t keys = 0;            // rows that went
  bool is_complete = true;
};

class Retention {
 public:
  Retention();

  // The first error, when all that it does not concern has been done.
  absl::StatusOr<RetentionResult> RunOnce(pg::Session& session);

 private:
  absl::StatusOr<bool> ExpireLane(pg::Session& session, int64_t lane, RetentionResult* result);
  // Runs `step` until it removes less than a full batch; returns whether it came to that.
  absl::StatusOr<bool> Drain(int64_t* removed,
                             absl::FunctionRef<absl::StatusOr<int64_t>()> step) const;

  // Goes some way through the pages of answered request ids; returns whether that is enough for
  // now.
  absl::StatusOr<bool> ExpireAnswered(pg::Session& session, int64_t* removed);

  LaneOwners owners_;
  Round round_;
  int64_t next_page_ = 0;  // of answered request ids
};

}  // namespace skiplane::upkeep
