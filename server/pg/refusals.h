// What the database refuses for a reason that only an operator can repair. The statuses of
// errors.h that say what to do.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::pg {

// DATABASE_UNAVAILABLE: the schema skiplane is not there, or is older than what is needed.
absl::Status SchemaMissing();
absl::Status SchemaOlder(int version, int needed);

// DATABASE_PERMISSION_DENIED. `message` is PostgreSQL's primary one, which names the object.
absl::Status PermissionDenied(absl::string_view message);

// DATABASE_READ_ONLY: a standby, or a server that an operator has set so.
absl::Status ReadOnly();

// POOLER_NOT_SUPPORTED: prepared statements are not there, or another client's are.
absl::Status PoolerNotSupported();

// POOLER_NOT_SUPPORTED: another client uses the same connection to the server.
absl::Status ConnectionShared();

// DATABASE_DISTRIBUTED: Citus has distributed so many of our tables.
absl::Status Distributed(int64_t tables);

// DATABASE_NOT_DURABLE: `setting` has this value.
absl::Status NotDurable(absl::string_view setting, absl::string_view value);

// SYNCHRONOUS_STANDBY_AWAY: the commits of so many connections that were given up wait for it.
absl::Status StandbyAway(int64_t waiting);

}  // namespace skiplane::pg
