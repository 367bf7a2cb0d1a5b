#include "server/rpc/serve/credentials.h"

#include <string>
#include <utility>

#include <grpc/grpc.h>

#include "server/rpc/serve/grpc_versions.h"

namespace skiplane::rpc {
namespace {

grpc_ssl_client_certificate_request_type RequestOf(const net::TlsIdentity& identity) {
  return identity.requires_client ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                  : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
}

}  // namespace

Credentials::Credentials(std::optional<net::TlsIdentity> identity)
    : identity_(std::move(identity)) {}

void Credentials::Replace(net::TlsIdentity identity) {
  base::MutexLock lock(mutex_);
  identity_ = std::move(identity);
  is_new_ = true;
}

std::optional<net::TlsIdentity> Credentials::Get() {
  base::MutexLock lock(mutex_);
  return identity_;
}

std::shared_ptr<grpc::ServerCredentials> Credentials::ForPort() {
  grpc_ssl_client_certificate_request_type request = GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  {
    base::MutexLock lock(mutex_);
    if (!identity_) return grpc::InsecureServerCredentials();
    if (!identity_->client_ca.empty()) request = RequestOf(*identity_);
  }
  // gRPC's C++ can replace certificates only by watching files itself, which would take broken and
  // half-written ones. Its C library asks before each handshake whether there is something new.
  grpc_ssl_server_credentials_options* const options =
      grpc_ssl_server_credentials_create_options_using_config_fetcher(
          request, &Credentials::Fetch, this);
  return Owned(grpc_ssl_server_credentials_create_with_options(options));
}

grpc_ssl_certificate_config_reload_status Credentials::Fetch(
    void* self, grpc_ssl_server_certificate_config** config) {
  auto& credentials = *static_cast<Credentials*>(self);
  base::MutexLock lock(credentials.mutex_);
  if (!std::exchange(credentials.is_new_, false)) {
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  }
  const net::TlsIdentity& identity = *credentials.identity_;
  const grpc_ssl_pem_key_cert_pair pair = {identity.key.c_str(), identity.certificate.c_str()};
  // gRPC 1.51 wants authorities also when clients are not asked for certificates. Any will do then.
  const std::string& authorities =
      identity.client_ca.empty() ? identity.certificate : identity.client_ca;
  *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace skiplane::rpc
