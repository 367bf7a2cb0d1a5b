// Says in the log that a handshake of TLS failed by a certificate, the caller's or ours, and why:
// the caller is told less. Thread-safe.
#pragma once

#include "absl/strings/string_view.h"

namespace skiplane::net {

// Whether OpenSSL's words are about a certificate. They are not where somebody speaks no TLS at
// all, as a scanner of ports: strangers write nothing into the log.
bool IsAboutCertificate(absl::string_view why);

// `peer` is an address, or empty where nobody can tell. One line in ten seconds is written.
void LogRefusedCertificate(absl::string_view peer, absl::string_view why);

}  // namespace skiplane::net
