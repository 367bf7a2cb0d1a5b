// The credentials of a listener: TLS whose files can be replaced while the server runs, or none.
#pragma once

#include <memory>
#include <optional>

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include "server/base/mutex.h"
#include "server/net/tls_files.h"

namespace skiplane::rpc {

// Each handshake uses what was given last; connections that stand keep what they began with.
// Thread-safe.
class Credentials {
 public:
  // Plain text without `identity`. Whether clients need a certificate is settled here for good.
  explicit Credentials(std::optional<net::TlsIdentity> identity);
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // Only with TLS, and with an authority for clients if and only if there was one at first.
  void Replace(net::TlsIdentity identity);

  std::optional<net::TlsIdentity> Get();

  // For one port of one server, which must end before this object.
  std::shared_ptr<grpc::ServerCredentials> ForPort();

 private:
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config);

  base::Mutex mutex_;
  std::optional<net::TlsIdentity> identity_ ABSL_GUARDED_BY(mutex_);
  bool is_new_ ABSL_GUARDED_BY(mutex_) = true;  // gRPC has not seen it
};

}  // namespace skiplane::rpc
