// What `skiplaned check-config` does: reads the files of TLS, credentials and rules as the broker
// would, and says on standard output what they make of it, with warnings of what is allowed and
// seldom meant. No database is asked and no port taken.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/access/authenticator.h"
#include "server/config/config.h"

namespace skiplane::app {

absl::Status CheckConfig(const config::Config& config);

// The half of it that prints nothing: what the files say of access, if a broker could start with
// all of them. An error names the file.
absl::StatusOr<access::Sources> CheckFiles(const config::Config& config);

}  // namespace skiplane::app
