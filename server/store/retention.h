// Deletes what is old enough, in bounded steps.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"

namespace skiplane::store {

// All three return how many rows went, at most `rows`.
absl::StatusOr<int64_t> ExpireAdminRequests(pg::Session& session, absl::Duration age, int rows);
absl::StatusOr<int64_t> ExpireSettled(pg::Session& session, int64_t lane, absl::Duration age,
                                      int rows);
absl::StatusOr<int64_t> ExpireRequests(pg::Session& session, int64_t lane, absl::Duration age,
                                       int rows);

struct ExpiredRequests {
  int64_t removed = 0;
  int64_t pages = 0;  // of the whole table
};

// The request ids of Enqueue in these pages of their table. ExpireRequests: those that brokers
// before 0.2 wrote.
absl::StatusOr<ExpiredRequests> ExpireAnsweredRequests(pg::Session& session, int64_t first_page,
                                                       int64_t pages, absl::Duration age);

// Keys of tasks that finished more than `days` ago.
absl::StatusOr<int64_t> ExpireKeys(pg::Session& session, int64_t lane, int days, int rows);

absl::Status ExpireStatistics(pg::Session& session, int64_t lane);
absl::Status ExpireMinutes(pg::Session& session, int64_t lane);

// Drops one day of history or of dead letters that is over; returns whether there was one. ABORTED
// when callers were in the way for too long: try again later.
absl::StatusOr<bool> DropPartition(pg::Session& session);

// Rows that had no partition when they were written; returns how many went, at most 2 * `rows`.
absl::StatusOr<int64_t> ExpireDefaults(pg::Session& session, int rows);

// Makes the day partitions ahead; returns how many were missing.
absl::StatusOr<int64_t> MakePartitions(pg::Session& session, int days_ahead);

}  // namespace skiplane::store
