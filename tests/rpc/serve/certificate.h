// Certificates for tests of TLS.
#pragma once

#include <string>

#include <grpcpp/grpcpp.h>

#include "server/rpc/serve/tls_files.h"

namespace skiplane::rpc {

std::string FileText(const std::string& path);

// A new key and a certificate for "localhost" that it signed itself, as files NAME.key and NAME.crt
// of this process: those of before are replaced. Valid for `lifetime` from now.
TlsFiles MakePair(const std::string& name, absl::Duration lifetime = absl::Hours(24));

// A client that trusts the certificate of `server`, with the certificate of `own` if not null.
grpc::SslCredentialsOptions ClientOf(const TlsFiles& server, const TlsFiles* own = nullptr);

}  // namespace skiplane::rpc
