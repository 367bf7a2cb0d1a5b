// The files of TLS, credentials and rules: which of them a configuration names, and what they say.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/access/authenticator.h"
#include "server/config/config.h"
#include "server/net/tls_files.h"

namespace skiplane::app {

std::optional<net::TlsFiles> TlsFilesOf(const config::Tls& tls);

// Those that are replaced while the broker runs, by the flags (without dashes) that name them.
std::map<std::string, std::string> NamedFiles(const config::Config& config);

// The same without their flags.
std::vector<std::string> WatchedFiles(const config::Config& config);

// What each of them holds, as a digest, by its flag.
using FilePrints = std::map<std::string, std::string>;
FilePrints PrintsOf(const config::Config& config);
// The flags of those that are there in one of the two only, or hold something else.
std::vector<std::string> ChangedFiles(const FilePrints& before, const FilePrints& now);
// Whether one of these flags names a file that says who callers are or what they may do.
bool DecideAccess(const std::vector<std::string>& flags);

// FAILED_PRECONDITION, naming the file, and the line if it has one, but no value of it.
absl::StatusOr<access::Sources> ReadAccessFiles(const config::Config& config);

// "off", "on", or "mutual" if no client comes in without a certificate.
std::string DescribeTls(const config::Tls& tls);

// What callers prove and who decides what they may do, as "certificates,tokens,jwt,rules"; "open"
// if there is none of these.
std::string DescribeAccess(const config::Config& config);

}  // namespace skiplane::app
