// What `skiplaned check-config` does: reads the files of TLS, credentials and rules as the broker
// would, and says on standard output what they make of it, with warnings of what is allowed and
// seldom meant. No database is asked and no port taken.
#pragma once

#include "absl/status/status.h"
#include "server/config/config.h"

namespace skiplane::app {

absl::Status CheckConfig(const config::Config& config);

// The half of it that says nothing: whether a broker could start with these files. An error names
// the file.
absl::Status CheckFiles(const config::Config& config);

}  // namespace skiplane::app
