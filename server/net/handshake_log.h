// Says in the log that a handshake of TLS failed by a certificate, the caller's or ours, and why:
// the caller is told less. Who speaks no TLS at all, as a scanner of ports, writes nothing.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::net {

// `peer` is an address, or empty where nobody can tell; `why` are OpenSSL's words. One line in ten
// seconds is written.
// Thread-safe.
void LogFailedHandshake(absl::string_view peer, absl::string_view why);

}  // namespace skiplane::net
