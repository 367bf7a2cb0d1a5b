// What `skiplaned restore FILE` does: a dump goes into a database that holds nothing of Skiplane,
// and is brought to the schema of this binary.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/config/config.h"

namespace skiplane::app {

// All or nothing, and says on standard output what it did. FAILED_PRECONDITION, saying what to do,
// if the file is no dump of Skiplane, or of a newer one; if the database holds the schema already;
// or if a role is missing that it may not make. `is_ended`: whether the process was asked to end.
absl::Status Restore(const config::Config& config, absl::FunctionRef<bool()> is_ended);

}  // namespace skiplane::app
