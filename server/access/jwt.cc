#include "server/access/jwt.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <cjose/header.h>
#include <cjose/jws.h>
#include <openssl/err.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "server/access/keys/base64url.h"
#include "server/access/keys/jwt_key.h"
#include "server/access/limits.h"
#include "server/base/status_macros.h"

namespace skiplane::access {
namespace {

absl::Status RefuseJwt(absl::string_view fault) {
  return InvalidCredentials(absl::StrCat("the JSON Web Token ", fault));
}

struct JwsDeleter {
  void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};
using Json = nlohmann::json;
using Jws = std::unique_ptr<cjose_jws_t, JwsDeleter>;

// gRPC on this thread must not find what OpenSSL left of a signature that was wrong.
class NoErrorsLeft {
 public:
  NoErrorsLeft() = default;
  ~NoErrorsLeft() { ERR_clear_error(); }
  NoErrorsLeft(const NoErrorsLeft&) = delete;
  NoErrorsLeft& operator=(const NoErrorsLeft&) = delete;
};

struct Header {
  std::string algorithm;
  std::string key_id;
};

// The parts of a token whose form is right. cjose is given no other: its own decoder ends the
// process at some wrong padding (base64url.h).
struct Parts {
  std::string header;
  size_t signature_bytes;
};

std::optional<Parts> Split(absl::string_view token) {
  const std::vector<absl::string_view> texts = absl::StrSplit(token, '.');
  if (texts.size() != 3) return std::nullopt;
  const std::optional<std::string> header = DecodeBase64Url(texts[0]);
  const std::optional<std::string> payload = DecodeBase64Url(texts[1]);
  const std::optional<std::string> signature = DecodeBase64Url(texts[2]);
  if (!header.has_value() || !payload.has_value() || !signature.has_value()) return std::nullopt;
  return Parts{*header, signature->size()};
}

// The algorithm is the one that cjose goes by. The rest is not read by cjose, which hides members
// that are neither a text nor a structure, `crit` too.
absl::StatusOr<Header> ReadHeader(const std::string& text, cjose_jws_t* jws) {
  const Json fields = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const char* const used = cjose_header_get(cjose_jws_get_protected(jws), CJOSE_HDR_ALG, nullptr);
  if (!fields.is_object() || used == nullptr) {
    return RefuseJwt("has a header that is no JSON object with an algorithm (`alg`)");
  }
  if (fields.contains("crit")) return RefuseJwt("has a `crit` header");
  const Json key_id = fields.value("kid", Json(""));
  if (!key_id.is_string()) return RefuseJwt("has a `kid` that is no text");
  return Header{used, key_id};
}

absl::string_view PayloadOf(const cjose_jws_t* jws) {
  uint8_t* bytes = nullptr;
  size_t size = 0;
  if (!cjose_jws_get_plaintext(jws, &bytes, &size, nullptr)) return "";
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

absl::StatusOr<JwtVerifier> JwtVerifier::Make(JwtOptions options, JwtKeys keys) {
  if (options.issuer.empty() || options.audience.empty()) {
    return absl::FailedPreconditionError("JSON Web Tokens need an issuer and an audience");
  }
  const bool are_known =
      !options.algorithms.empty() &&
      std::all_of(options.algorithms.begin(), options.algorithms.end(),
                  [](const std::string& name) { return FindJwtAlgorithm(name) != nullptr; });
  if (!are_known) {
    return absl::FailedPreconditionError(
        absl::StrCat("the algorithms of JSON Web Tokens must be some of ", JwtAlgorithmNames(),
                     "; HS* and none are never taken"));
  }
  return JwtVerifier(std::move(options), std::move(keys));
}

const JwtAlgorithm* JwtVerifier::FindListed(absl::string_view name) const {
  const auto listed = std::find(options_.algorithms.begin(), options_.algorithms.end(), name);
  return listed == options_.algorithms.end() ? nullptr : FindJwtAlgorithm(name);
}

absl::StatusOr<VerifiedJwt> JwtVerifier::Verify(absl::string_view token, absl::Time now) const {
  const NoErrorsLeft at_the_end;
  if (token.size() > kBearerBytesMax) {
    return RefuseJwt(absl::StrCat("has more than ", kBearerBytesMax, " bytes"));
  }
  const std::optional<Parts> parts = Split(token);
  if (!parts.has_value()) return RefuseJwt("has not three parts in base64url");
  const Jws jws(cjose_jws_import(token.data(), token.size(), nullptr));
  if (jws == nullptr) return RefuseJwt("has a header without an algorithm that is known (`alg`)");
  ASSIGN_OR_RETURN(const Header header, ReadHeader(parts->header, jws.get()));
  const JwtAlgorithm* const algorithm = FindListed(header.algorithm);
  if (algorithm == nullptr) {
    return RefuseJwt("is signed by an algorithm that is not listed (`alg`)");
  }
  const auto keys = keys_.Candidates(*algorithm, header.key_id);
  if (keys.empty()) return RefuseJwt("is signed by a key that is not known (`kid`, `alg`)");
  const bool is_signed =
      (algorithm->signature_bytes == 0 || algorithm->signature_bytes == parts->signature_bytes) &&
      std::any_of(keys.begin(), keys.end(), [&jws](const std::shared_ptr<const JwtKey>& key) {
        return cjose_jws_verify(jws.get(), key->key.get(), nullptr);
      });
  if (!is_signed) return RefuseJwt("has a wrong signature");
  return CheckClaims(PayloadOf(jws.get()), options_, now);
}

}  // namespace skiplane::access
