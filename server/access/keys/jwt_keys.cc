#include "server/access/keys/jwt_keys.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/access/keys/jwks.h"
#include "server/access/keys/jwt_key.h"
#include "server/access/keys/pem_keys.h"

namespace skiplane::access {
namespace {

// A token without `kid` is tried with each key: 32 signatures take about 3 ms.
constexpr size_t kKeysMax = 32;

absl::StatusOr<std::vector<JwtKey>> Read(absl::string_view text) {
  if (text.size() > kKeysFileBytesMax) {
    return absl::FailedPreconditionError(absl::StrCat("above ", kKeysFileBytesMax, " bytes"));
  }
  const bool is_json = absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{");
  absl::StatusOr<std::vector<JwtKey>> keys = is_json ? ReadJwks(text) : ReadPemKeys(text);
  if (!keys.ok()) return keys;
  if (keys->empty()) {
    return absl::FailedPreconditionError(
        "no public key that signatures can be checked with, in PEM form or as a JWKS document");
  }
  if (keys->size() > kKeysMax) {
    return absl::FailedPreconditionError(absl::StrCat("more than ", kKeysMax, " keys"));
  }
  return keys;
}

bool Fits(const JwtKey& key, const JwtAlgorithm& algorithm, absl::string_view id) {
  return key.type == algorithm.key && (key.algorithm.empty() || key.algorithm == algorithm.name) &&
         (id.empty() || key.id.empty() || key.id == id);
}

}  // namespace

absl::StatusOr<JwtKeys> JwtKeys::Parse(absl::string_view text, absl::string_view file) {
  absl::StatusOr<std::vector<JwtKey>> read = Read(text);
  if (!read.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(file, ": ", read.status().message()));
  }
  JwtKeys keys;
  for (JwtKey& key : *read) keys.keys_.push_back(std::make_shared<const JwtKey>(std::move(key)));
  return keys;
}

std::vector<std::shared_ptr<const JwtKey>> JwtKeys::Candidates(const JwtAlgorithm& algorithm,
                                                               absl::string_view id) const {
  std::vector<std::shared_ptr<const JwtKey>> found;
  for (const std::shared_ptr<const JwtKey>& key : keys_) {
    if (Fits(*key, algorithm, id)) found.push_back(key);
  }
  return found;
}

}  // namespace skiplane::access
