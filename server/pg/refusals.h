// What the database refuses for a reason that only an operator can mend. The statuses of
// errors.h that say what to do.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::pg {

// DATABASE_PERMISSION_DENIED. `message` is PostgreSQL's primary one, which names the object.
absl::Status PermissionDenied(absl::string_view message);

// DATABASE_READ_ONLY: a standby, or a server that an operator has set so.
absl::Status ReadOnly();

// POOLER_NOT_SUPPORTED: prepared statements are not there, or another client's are.
absl::Status PoolerNotSupported();

}  // namespace skiplane::pg
