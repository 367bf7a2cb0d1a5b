// What `skiplaned make-token` does: a new bearer token goes to standard output, once, and below it
// the line by which a broker knows it.
#pragma once

#include "absl/status/status.h"
#include "server/config/config.h"

namespace skiplane::app {

absl::Status PrintNewToken(const config::Config& config);

}  // namespace skiplane::app
