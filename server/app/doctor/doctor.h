// What `skiplaned doctor` does: looks at the database, and at what this machine gives a broker, and
// says what would keep one from serving well, and what to do about it. It changes nothing.
#pragma once

#include "absl/status/status.h"
#include "server/config/config.h"

namespace skiplane::app {

// A line for each look goes to standard output: "ok", "see to it" or "wrong". FAILED_PRECONDITION
// if something is wrong; a database that cannot be used at all is told as a broker would. An
// embedded PostgreSQL is looked at as it runs, or is started for it.
absl::Status Examine(const config::Config& config);

}  // namespace skiplane::app
