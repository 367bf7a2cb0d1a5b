#include "client/cli/base/tls_files.h"

#include <cstdio>
#include <memory>
#include <string>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"

namespace skiplane::cli {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using File = std::unique_ptr<BIO, decltype(&BIO_free)>;

File Open(const std::string& path) { return {BIO_new_file(path.c_str(), "r"), &BIO_free}; }

// Without this, OpenSSL would ask at the terminal for a password.
void* NoPassword() {
  static char empty[] = "";
  return empty;
}

absl::Status CheckCertificate(const std::string& path, Certificate* certificate) {
  const File file = Open(path);
  if (file == nullptr) return absl::OkStatus();
  certificate->reset(PEM_read_bio_X509(file.get(), nullptr, nullptr, NoPassword()));
  if (*certificate != nullptr) return absl::OkStatus();
  return LocalError(absl::StrCat(path, " holds no certificate in PEM form"));
}

absl::Status CheckPair(const GlobalOptions& options) {
  Certificate certificate(nullptr, &X509_free);
  if (const auto status = CheckCertificate(options.tls_cert, &certificate); !status.ok()) {
    return status;
  }
  const File file = Open(options.tls_key);
  if (file == nullptr || certificate == nullptr) return absl::OkStatus();
  const Key key(PEM_read_bio_PrivateKey(file.get(), nullptr, nullptr, NoPassword()),
                &EVP_PKEY_free);
  if (key == nullptr) {
    return LocalError(
        absl::StrCat(options.tls_key, " holds no private key in PEM form without a password"));
  }
  if (X509_check_private_key(certificate.get(), key.get()) == 1) return absl::OkStatus();
  return LocalError(absl::StrCat(options.tls_key, " is not the key of the certificate in ",
                                 options.tls_cert));
}

}  // namespace

absl::Status CheckTlsFiles(const GlobalOptions& options) {
  absl::Status status;
  if (!options.tls_ca.empty()) {
    Certificate authority(nullptr, &X509_free);
    status = CheckCertificate(options.tls_ca, &authority);
  }
  if (status.ok() && !options.tls_cert.empty()) status = CheckPair(options);
  ERR_clear_error();  // gRPC on this thread must not find what was left
  return status;
}

}  // namespace skiplane::cli
