#include "tests/net/certificate.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "absl/strings/str_cat.h"

namespace skiplane::net {
namespace {

void Write(const std::string& path, const std::function<void(FILE*)>& write) {
  FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  write(file);
  std::fclose(file);
}

}  // namespace

std::string FileText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TlsFiles MakePair(const std::string& name, absl::Duration lifetime) {
  const std::string base = absl::StrCat(::testing::TempDir(), "/skiplane_", getpid(), "_", name);
  const TlsFiles files = {base + ".crt", base + ".key", ""};
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), absl::ToInt64Seconds(lifetime));
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509_EXTENSION* names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost");
  X509_add_ext(certificate, names, -1);
  X509_sign(certificate, key, EVP_sha256());
  Write(files.certificate, [&](FILE* file) { PEM_write_X509(file, certificate); });
  Write(files.key, [&](FILE* file) {
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  X509_EXTENSION_free(names);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return files;
}

}  // namespace skiplane::net
