// Forgets what is old enough, in bounded steps.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"

namespace skiplane::store {

// Both return how many rows went, at most `rows`.
absl::StatusOr<int64_t> ExpireSettled(pg::Session& session, int64_t lane, absl::Duration age,
                                      int rows);
absl::StatusOr<int64_t> ExpireRequests(pg::Session& session, int64_t lane, absl::Duration age,
                                       int rows);

// Makes the day partitions ahead; returns how many were missing.
absl::StatusOr<int64_t> MakePartitions(pg::Session& session, int days_ahead);

}  // namespace skiplane::store
