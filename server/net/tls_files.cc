#include "server/net/tls_files.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/read_file.h"
#include "server/base/status_macros.h"
#include "server/net/certificate_time.h"

namespace skiplane::net {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

constexpr size_t kFileBytesMax = 1 << 20;

Memory MemoryOf(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

// As gRPC reads a protected key: without this, OpenSSL would ask at the terminal for a password.
void* NoPassword() {
  static char empty[] = "";
  return empty;
}

Certificate NextCertificate(BIO* memory) {
  return {PEM_read_bio_X509_AUX(memory, nullptr, nullptr, NoPassword()), &X509_free};
}

// Empty if there is none, or something behind the first is broken.
std::vector<Certificate> Certificates(const std::string& pem) {
  const Memory memory = MemoryOf(pem);
  std::vector<Certificate> all;
  ERR_clear_error();
  while (Certificate next = NextCertificate(memory.get())) all.push_back(std::move(next));
  const bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (!is_end) all.clear();
  return all;
}

Key PrivateKey(const std::string& pem) {
  const Memory memory = MemoryOf(pem);
  return {PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, NoPassword()), &EVP_PKEY_free};
}

std::string Sha256(const X509& certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  X509_digest(&certificate, EVP_sha256(), digest, &size);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest), size});
}

// Whether OpenSSL would serve with it: a weak certificate is one that it does not take.
bool Takes(SSL_CTX* context, const std::vector<Certificate>& chain) {
  if (chain.empty() || SSL_CTX_use_certificate(context, chain.front().get()) != 1) return false;
  return std::all_of(chain.begin() + 1, chain.end(), [context](const Certificate& issuer) {
    return SSL_CTX_add1_chain_cert(context, issuer.get()) == 1;
  });
}

// gRPC takes a pair that does not match, says nothing, and then fails every handshake; of a file
// without authorities it says nothing, either.
absl::Status Check(const TlsFiles& files, TlsIdentity& identity) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  &SSL_CTX_free);
  const std::vector<Certificate> chain = Certificates(identity.certificate);
  if (!Takes(context.get(), chain)) {
    return absl::FailedPreconditionError(
        absl::StrCat("no certificate in PEM form: ", files.certificate));
  }
  const Key key = PrivateKey(identity.key);
  if (key == nullptr || SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "no private key in PEM form that fits ", files.certificate, ": ", files.key));
  }
  if (!files.client_ca.empty() && Certificates(identity.client_ca).empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no certificates of authorities in PEM form: ", files.client_ca));
  }
  identity.sha256 = Sha256(*chain.front());
  identity.expires = ExpiryOf(*chain.front());
  return absl::OkStatus();
}

absl::StatusOr<TlsIdentity> ReadOnce(const TlsFiles& files) {
  TlsIdentity identity;
  ASSIGN_OR_RETURN(identity.key, base::ReadFile(files.key, kFileBytesMax));
  ASSIGN_OR_RETURN(identity.certificate, base::ReadFile(files.certificate, kFileBytesMax));
  if (!files.client_ca.empty()) {
    ASSIGN_OR_RETURN(identity.client_ca, base::ReadFile(files.client_ca, kFileBytesMax));
    identity.requires_client = files.requires_client;
  }
  return identity;
}

// A pair that is put in place between the reads of its two files would not fit. So they are read
// until they are twice the same.
absl::StatusOr<TlsIdentity> ReadSettled(const TlsFiles& files) {
  constexpr int kReadsMax = 5;
  ASSIGN_OR_RETURN(TlsIdentity identity, ReadOnce(files));
  for (int reads = 1; reads < kReadsMax; ++reads) {
    ASSIGN_OR_RETURN(TlsIdentity again, ReadOnce(files));
    const bool is_same = again.key == identity.key && again.certificate == identity.certificate &&
                         again.client_ca == identity.client_ca;
    identity = std::move(again);
    if (is_same) break;
  }
  return identity;
}

}  // namespace

absl::StatusOr<TlsIdentity> ReadTlsFiles(const TlsFiles& files) {
  ASSIGN_OR_RETURN(TlsIdentity identity, ReadSettled(files));
  const absl::Status status = Check(files, identity);
  ERR_clear_error();  // gRPC on this thread must not find what was left
  RETURN_IF_ERROR(status);
  return identity;
}

}  // namespace skiplane::net
