// The space on the disk that the tables take, and what gives back what they do not need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"

namespace skiplane::store {

// One table, its partitions included.
struct TableSize {
  std::string table;
  int64_t row_bytes = 0;
  int64_t toast_bytes = 0;  // of large values
  int64_t index_bytes = 0;
  int64_t dead_rows = 0;  // as far as PostgreSQL knows
};

struct Sizes {
  std::vector<TableSize> tables;  // by name
  int64_t database_bytes = 0;
};
absl::StatusOr<Sizes> ReadSizes(pg::Session& session);

// In pages of, as a rule, 8 kB.
struct SpaceBounds {
  int64_t table_pages_min = 0;    // smaller tables keep what they have
  int64_t index_pages_min = 0;    // smaller indexes, too
  int64_t rebuilt_pages_max = 0;  // of a table whose index is rebuilt: nobody can write meanwhile
  absl::Duration estimate_age = absl::Hours(1);  // in seconds; then rows are estimated anew
};

struct SpaceStep {
  std::string relation;  // a table or an index of the schema
  bool is_allowed = false;  // to the role of the session
  std::string command;
};

// Tables that are three quarters empty at least, or may be since rows were deleted and their number
// is an old estimate, and nearly empty indexes of small tables.
// ABORTED when a table was locked for too long.
absl::StatusOr<std::vector<SpaceStep>> FindSpace(pg::Session& session, const SpaceBounds& bounds);

// The bytes of a table with its indexes, or of an index; 0 if it is gone.
absl::StatusOr<int64_t> ReadTaken(pg::Session& session, const std::string& relation);

// Runs the step's command, for half an hour at most. It waits for no lock for longer than the
// session's lock_timeout; where somebody is in the way it does less, or is ABORTED.
absl::Status GiveBack(pg::Session& session, const SpaceStep& step);

// Stops GiveBack() of another session, which then fails. Returns whether it was at it, as far as
// PostgreSQL knows.
absl::StatusOr<bool> CancelGiveBack(pg::Session& session, int backend_pid);

}  // namespace skiplane::store
