// What `skiplaned dump FILE` does: everything that a database holds for Skiplane, as it is at one
// moment, goes to a file that `skiplaned restore` reads, and pg_restore. Brokers go on meanwhile.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/app/database/database.h"
#include "server/config/config.h"

namespace skiplane::app {

// Says on standard output what it made. The file appears at once and complete, and only its owner
// may read it; one that is there is left alone: FAILED_PRECONDITION. The embedded PostgreSQL is
// used as it runs, or is started for it. `is_ended`: whether the process was asked to end; then
// nothing is left behind.
absl::Status Dump(const config::Config& config, absl::FunctionRef<bool()> is_ended);

}  // namespace skiplane::app
