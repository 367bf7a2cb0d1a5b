// One step of the schema, and how a row of steps is applied. For migrator.cc and its tests; the
// rest of the server calls migrator.h.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/pg/session.h"

namespace skiplane::pg {

struct Migration {
  int version;  // from 1, growing
  const char* name;
  const char* text;
};

// Applies those whose version is above the database's, each in a transaction of its own, and
// returns how many this call applied. FAILED_PRECONDITION when the database is newer than the last
// of them. Several processes may call it at once. A database that is up to date is only read.
absl::StatusOr<int> ApplyMigrations(const ConnectOptions& options,
                                    absl::Span<const Migration> migrations);

// FAILED_PRECONDITION if `version`, of a database, is above `latest`, of this binary.
absl::Status CheckNotNewer(int version, int latest);

}  // namespace skiplane::pg
