#include "server/rpc/credentials.h"

#include <fstream>
#include <sstream>

#include <openssl/ssl.h>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace skiplane::rpc {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(file && text << file.rdbuf())) {
    return absl::FailedPreconditionError(absl::StrCat("cannot read the TLS file ", path));
  }
  return text.str();
}

// gRPC takes a pair that does not match, says nothing, and then fails every handshake; of a file
// without authorities it says nothing, either.
absl::Status CheckFiles(const TlsFiles& tls) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  &SSL_CTX_free);
  if (SSL_CTX_use_certificate_chain_file(context.get(), tls.certificate.c_str()) != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("no certificate in PEM form: ", tls.certificate));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), tls.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("no private key in PEM form that fits ", tls.certificate, ": ", tls.key));
  }
  if (!tls.client_ca.empty() &&
      SSL_CTX_load_verify_locations(context.get(), tls.client_ca.c_str(), nullptr) != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("no certificates of authorities in PEM form: ", tls.client_ca));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const std::optional<TlsFiles>& tls) {
  if (!tls) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options;
  ASSIGN_OR_RETURN(std::string key, ReadFile(tls->key));
  ASSIGN_OR_RETURN(std::string certificate, ReadFile(tls->certificate));
  options.pem_key_cert_pairs.push_back({key, certificate});
  if (!tls->client_ca.empty()) {
    ASSIGN_OR_RETURN(options.pem_root_certs, ReadFile(tls->client_ca));
    options.client_certificate_request =
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  }
  RETURN_IF_ERROR(CheckFiles(*tls));
  return grpc::SslServerCredentials(options);
}

}  // namespace skiplane::rpc
