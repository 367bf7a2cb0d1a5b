// The files of TLS, credentials and rules: which of them a configuration names, and what they say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/access/authenticator.h"
#include "server/config/config.h"
#include "server/net/tls_files.h"

namespace skiplane::app {

std::optional<net::TlsFiles> TlsFilesOf(const config::Tls& tls);

// All that are replaced while the broker runs.
std::vector<std::string> WatchedFiles(const config::Config& config);

// FAILED_PRECONDITION, naming the file, and the line if it has one, but no value of it.
absl::StatusOr<access::Sources> ReadAccessFiles(const config::Config& config);

// What callers prove and who decides what they may do, as "certificates,tokens,jwt,rules"; "open"
// if there is none of these.
std::string DescribeAccess(const config::Config& config);

}  // namespace skiplane::app
