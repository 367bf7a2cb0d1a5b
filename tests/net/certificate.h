// Certificates for tests of TLS.
#pragma once

#include <string>

#include "server/net/tls_files.h"

namespace skiplane::net {

std::string FileText(const std::string& path);

// A new key and a certificate for "localhost" that it signed itself, as files NAME.key and NAME.crt
// of this process: those of before are replaced. Valid for `lifetime` from now.
TlsFiles MakePair(const std::string& name, absl::Duration lifetime = absl::Hours(24));

}  // namespace skiplane::net
