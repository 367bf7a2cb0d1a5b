#include "server/http/tls_context.h"

#include <memory>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/system/system_error.hpp>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include "absl/strings/str_cat.h"

namespace skiplane::http {
namespace {

namespace asio = boost::asio;
using asio::ssl::context;

asio::const_buffer BytesOf(const std::string& text) {
  return asio::buffer(text.data(), text.size());
}

// Clients choose their certificate by these names.
void NameAuthorities(SSL_CTX* context, const std::string& pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  while (X509* const authority = PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr)) {
    SSL_CTX_add_client_CA(context, authority);
    X509_free(authority);
  }
  ERR_clear_error();  // of the end
}

// As gRPC judges: an authority is trusted by itself, also one that another has signed.
void AskClients(context& made, const std::string& authorities, bool required) {
  made.add_certificate_authority(BytesOf(authorities));
  X509_STORE_set_flags(SSL_CTX_get_cert_store(made.native_handle()),
                       X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
  NameAuthorities(made.native_handle(), authorities);
  made.set_verify_mode(asio::ssl::verify_peer |
                       (required ? asio::ssl::verify_fail_if_no_peer_cert : 0));
}

// Of TLS 1.2 what the gRPC port takes: forward secrecy and authenticated encryption. All of TLS 1.3
// are such.
constexpr char kTls12Ciphers[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384";

// Throws boost::system::system_error.
void Fill(context& made, const net::TlsIdentity& identity) {
  made.set_options(context::no_tlsv1 | context::no_tlsv1_1 | context::no_compression);
  SSL_CTX_set_cipher_list(made.native_handle(), kTls12Ciphers);
  // Each connection is checked against the newest files: none takes up where an old one was.
  SSL_CTX_set_options(made.native_handle(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(made.native_handle(), 0);
  SSL_CTX_set_session_cache_mode(made.native_handle(), SSL_SESS_CACHE_OFF);
  // Buffers of connections that wait are given back.
  SSL_CTX_set_mode(made.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  made.use_certificate_chain(BytesOf(identity.certificate));
  made.use_private_key(BytesOf(identity.key), context::pem);
  if (!identity.client_ca.empty()) {
    AskClients(made, identity.client_ca, identity.requires_client);
  }
}

}  // namespace

absl::Status TlsContext::Replace(const net::TlsIdentity& identity) {
  auto made = std::make_shared<context>(context::tls_server);
  try {
    Fill(*made, identity);
  } catch (const boost::system::system_error& error) {
    return absl::FailedPreconditionError(
        absl::StrCat("the TLS files do not serve for HTTP: ", error.what()));
  }
  base::MutexLock lock(mutex_);
  context_ = std::move(made);
  return absl::OkStatus();
}

std::shared_ptr<context> TlsContext::Get() {
  base::MutexLock lock(mutex_);
  return context_;
}

}  // namespace skiplane::http
