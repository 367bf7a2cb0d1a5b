#include "server/app/files/config_warnings.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/app/files/access_files.h"
#include "server/app/files/rule_warnings.h"
#include "server/pg/conninfo.h"

namespace skiplane::app {
namespace {

using Warnings = std::vector<std::string>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void CheckModes(const config::Config& config, bool has_password, Warnings& warnings) {
  std::map<std::string, std::string> files = NamedFiles(config);
  if (!config.database_file.empty()) files["database-file"] = config.database_file;
  for (const auto& [flag, path] : files) {
    struct stat facts{};
    if (stat(path.c_str(), &facts) != 0) continue;
    const bool is_secret = flag == "tls-key" || (flag == "database-file" && has_password);
    if ((facts.st_mode & S_IWOTH) != 0) {
      warnings.push_back(absl::StrCat("every account may change ", path, ": chmod o-w it"));
    } else if (is_secret && (facts.st_mode & S_IROTH) != 0) {
      warnings.push_back(absl::StrCat("every account may read ", path, ": chmod o= it"));
    }
  }
}

// `must_sign`: it is one of those that sign the certificates of clients.
void CheckCertificates(const std::string& path, bool must_sign, Warnings& warnings) {
  const std::string text = Read(path);
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
  for (int number = 1;; ++number) {
    const Certificate one(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free);
    if (one == nullptr) return;
    const std::string name = absl::StrCat("certificate ", number, " of ", path);
    if (X509_cmp_current_time(X509_get0_notAfter(one.get())) <= 0) {
      warnings.push_back(absl::StrCat(name, " has expired"));
    } else if (X509_cmp_current_time(X509_get0_notBefore(one.get())) > 0) {
      warnings.push_back(absl::StrCat(name, " is not valid yet"));
    }
    if (must_sign && X509_check_ca(one.get()) == 0) {
      warnings.push_back(absl::StrCat(name, " is no authority: no client has one of it"));
    }
    const bool serves = !must_sign && number == 1;
    if (serves && X509_check_purpose(one.get(), X509_PURPOSE_SSL_SERVER, /*ca=*/0) == 0) {
      warnings.push_back(absl::StrCat(name, " is not one for servers: no client takes it; "
                                            "SKIPLANE_TLS_CERT is also what `skiplane` shows"));
    }
  }
}

}  // namespace

bool ShowsPassword(const config::Config& config) {
  return config.is_database_on_command_line &&
         pg::HasPassword(config.database_uri).value_or(false);
}

std::vector<std::string> WarningsOf(const config::Config& config,
                                    const access::Sources& sources) {
  Warnings warnings;
  if (ShowsPassword(config)) {
    warnings.push_back("the database's password stands on the command line, where every account "
                       "may read it: use --database-file, or set SKIPLANE_DATABASE");
  }
  CheckModes(config, pg::HasPassword(config.database_uri).value_or(false), warnings);
  if (!config.tls.cert_file.empty()) CheckCertificates(config.tls.cert_file, false, warnings);
  if (!config.tls.client_ca_file.empty()) {
    CheckCertificates(config.tls.client_ca_file, true, warnings);
  }
  for (std::string& warning : RuleWarnings(config.access, sources)) {
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace skiplane::app
