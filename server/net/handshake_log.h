// Says in the log that callers cannot begin TLS, and why: they themselves are told less.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::net {

// `peer` is an address, or empty where nobody can tell. One line in ten seconds is written.
// Thread-safe.
void LogFailedHandshake(absl::string_view peer, absl::string_view why);

}  // namespace skiplane::net
