#include "server/app/files/config_warnings.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/access/limits.h"
#include "server/access/rules.h"
#include "server/access/text_file.h"

namespace skiplane::app {
namespace {

using Warnings = std::vector<std::string>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

constexpr size_t kTextBytesMax = size_t{64} << 20;  // what is larger was refused before

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void CheckModes(const config::Config& config, Warnings& warnings) {
  for (const std::string& path :
       {config.tls.cert_file, config.tls.key_file, config.tls.client_ca_file,
        config.access.token_file, config.access.jwt_keys_file, config.access.rules_file}) {
    struct stat facts{};
    if (path.empty() || stat(path.c_str(), &facts) != 0) continue;
    if ((facts.st_mode & S_IWOTH) != 0) {
      warnings.push_back(absl::StrCat("every account may change ", path, ": chmod o-w it"));
    } else if (path == config.tls.key_file && (facts.st_mode & S_IROTH) != 0) {
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
  }
}

// Calls `take` with the words of every line.
template <typename Take>
void ForEachLine(const std::string& path, Take take) {
  if (path.empty()) return;
  // It was read without an error before.
  (void)access::ForEachLine(Read(path), path, kTextBytesMax, [&](absl::string_view line) {
    take(access::Words(line));
    return absl::OkStatus();
  });
}

bool AllowsNothing(const access::Rules& rules, const access::Principal& principal) {
  const access::Grants grants = rules.Resolve(principal);
  for (size_t verb = 0; verb < access::kVerbs; ++verb) {
    if (grants.AllowsSome(static_cast<access::Verb>(verb))) return false;
  }
  return true;
}

void CheckRules(const std::string& path, Warnings& warnings) {
  Warnings allowed, groups;
  ForEachLine(path, [&](const std::vector<absl::string_view>& words) {
    if (words.size() < 2) return;
    (words[0] == "allow" ? allowed : groups).emplace_back(words[1]);
  });
  for (const std::string& who : allowed) {
    if (!absl::StrContains(who, '*') && !absl::StrContains(who, '?')) continue;
    warnings.push_back(absl::StrCat(
        path, ": ", who, " is taken literally: * and ? stand for others in names of queues only"));
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  for (const std::string& group : groups) {
    const std::string who = absl::StrCat("group:", group);
    if (std::find(allowed.begin(), allowed.end(), who) != allowed.end()) continue;
    warnings.push_back(absl::StrCat(path, ": no rule is for ", who));
  }
}

void CheckTokens(const config::Access& access, Warnings& warnings) {
  const auto rules = access::Rules::Parse(Read(access.rules_file), access.rules_file);
  if (!rules.ok()) return;
  ForEachLine(access.token_file, [&](const std::vector<absl::string_view>& words) {
    access::Principal principal{.name = absl::StrCat(access::kTokenPrefix, words[0]),
                                .groups = {}};
    if (words.size() > 2) principal.groups = absl::StrSplit(words[2], ',');
    if (!AllowsNothing(*rules, principal)) return;
    warnings.push_back(absl::StrCat(access.token_file, ": no rule allows anything to ",
                                    principal.name));
  });
}

}  // namespace

std::vector<std::string> WarningsOf(const config::Config& config) {
  Warnings warnings;
  CheckModes(config, warnings);
  if (!config.tls.cert_file.empty()) CheckCertificates(config.tls.cert_file, false, warnings);
  if (!config.tls.client_ca_file.empty()) {
    CheckCertificates(config.tls.client_ca_file, true, warnings);
  }
  if (config.access.rules_file.empty()) return warnings;
  CheckRules(config.access.rules_file, warnings);
  CheckTokens(config.access, warnings);
  return warnings;
}

}  // namespace skiplane::app
