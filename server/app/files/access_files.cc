#include "server/app/files/access_files.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/access/digest.h"
#include "server/access/jwt.h"
#include "server/access/keys/jwt_keys.h"
#include "server/access/limits.h"
#include "server/access/rules.h"
#include "server/access/token_file.h"
#include "server/base/read_file.h"
#include "server/base/status_macros.h"

namespace skiplane::app {
namespace {

// Of the largest of these files.
constexpr size_t kPrintBytesMax = access::kTokenFileBytesMax;

absl::StatusOr<access::JwtVerifier> ReadJwtKeys(const config::Access& files) {
  ASSIGN_OR_RETURN(const std::string text,
                   base::ReadFile(files.jwt_keys_file, access::kKeysFileBytesMax));
  ASSIGN_OR_RETURN(access::JwtKeys keys, access::JwtKeys::Parse(text, files.jwt_keys_file));
  return access::JwtVerifier::Make({files.jwt_issuer, files.jwt_audience, files.jwt_algorithms,
                                    files.jwt_groups_claim},
                                   std::move(keys));
}

}  // namespace

std::optional<net::TlsFiles> TlsFilesOf(const config::Tls& tls) {
  if (!tls.enabled()) return std::nullopt;
  return net::TlsFiles{tls.cert_file, tls.key_file, tls.client_ca_file, tls.requires_client};
}

std::map<std::string, std::string> NamedFiles(const config::Config& config) {
  std::map<std::string, std::string> files = {{"tls-cert", config.tls.cert_file},
                                              {"tls-key", config.tls.key_file},
                                              {"tls-client-ca", config.tls.client_ca_file},
                                              {"token-file", config.access.token_file},
                                              {"jwt-keys", config.access.jwt_keys_file},
                                              {"rules-file", config.access.rules_file}};
  std::erase_if(files, [](const auto& file) { return file.second.empty(); });
  return files;
}

std::vector<std::string> WatchedFiles(const config::Config& config) {
  std::vector<std::string> files;
  for (const auto& [flag, path] : NamedFiles(config)) files.push_back(path);
  return files;
}

FilePrints PrintsOf(const config::Config& config) {
  FilePrints prints;
  for (const auto& [flag, path] : NamedFiles(config)) {
    const absl::StatusOr<std::string> text = base::ReadFile(path, kPrintBytesMax);
    const access::Digest digest = access::Sha256(text.ok() ? *text : "");
    prints[flag] = std::string(digest.begin(), digest.end());
  }
  return prints;
}

std::vector<std::string> ChangedFiles(const FilePrints& before, const FilePrints& now) {
  std::vector<std::string> flags;
  for (const auto& [flag, print] : now) {
    const auto known = before.find(flag);
    if (known == before.end() || known->second != print) flags.push_back(flag);
  }
  for (const auto& [flag, print] : before) {
    if (!now.contains(flag)) flags.push_back(flag);
  }
  return flags;
}

bool DecideAccess(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag == "token-file" || flag == "jwt-keys" || flag == "rules-file";
  });
}

std::string DescribeTls(const config::Tls& tls) {
  if (!tls.enabled()) return "off";
  return tls.client_ca_file.empty() || !tls.requires_client ? "on" : "mutual";
}

absl::StatusOr<access::Sources> ReadAccessFiles(const config::Config& config) {
  access::Sources sources;
  sources.takes_certificates = !config.tls.client_ca_file.empty();
  if (!config.access.token_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, base::ReadFile(config.access.token_file,
                                                              access::kTokenFileBytesMax));
    ASSIGN_OR_RETURN(access::TokenTable table,
                     access::TokenTable::Parse(text, config.access.token_file));
    sources.tokens = std::make_shared<const access::TokenTable>(std::move(table));
  }
  if (!config.access.jwt_keys_file.empty()) {
    ASSIGN_OR_RETURN(access::JwtVerifier verifier, ReadJwtKeys(config.access));
    sources.jwts = std::make_shared<const access::JwtVerifier>(std::move(verifier));
  }
  if (!config.access.rules_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, base::ReadFile(config.access.rules_file,
                                                              access::kRulesBytesMax));
    ASSIGN_OR_RETURN(sources.rules, access::Rules::Parse(text, config.access.rules_file));
  }
  return sources;
}

std::string DescribeAccess(const config::Config& config) {
  std::vector<std::string> kinds;
  if (!config.tls.client_ca_file.empty()) kinds.push_back("certificates");
  if (!config.access.token_file.empty()) kinds.push_back("tokens");
  if (!config.access.jwt_keys_file.empty()) kinds.push_back("jwt");
  if (!config.access.rules_file.empty()) kinds.push_back("rules");
  return kinds.empty() ? "open" : absl::StrJoin(kinds, ",");
}

}  // namespace skiplane::app
