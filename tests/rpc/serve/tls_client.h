// Clients for tests of TLS; tests/net/certificate.h makes what they show and trust.
#pragma once

#include <grpcpp/grpcpp.h>

#include "tests/net/certificate.h"

namespace skiplane::rpc {

// A client that trusts the certificate of `server`, with the certificate of `own` if not null.
inline grpc::SslCredentialsOptions ClientOf(const net::TlsFiles& server,
                                            const net::TlsFiles* own = nullptr) {
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = net::FileText(server.certificate);
  if (own == nullptr) return ssl;
  ssl.pem_cert_chain = net::FileText(own->certificate);
  ssl.pem_private_key = net::FileText(own->key);
  return ssl;
}

}  // namespace skiplane::rpc
