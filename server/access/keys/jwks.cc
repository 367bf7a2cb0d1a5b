#include "server/access/keys/jwks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <openssl/err.h>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "server/access/keys/base64url.h"
#include "server/base/status_macros.h"

namespace skiplane::access {
namespace {

using Json = nlohmann::json;

// What only private and symmetric keys have: RFC 7518 sections 6.2.2, 6.3.2 and 6.4.
constexpr const char* kSecrets[] = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"};

// The text of a member; empty if there is none.
std::string TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

absl::Status CheckPublic(const Json& key) {
  const bool is_symmetric = TextOf(key, "kty") == "oct" || key.contains("k");
  if (is_symmetric) {
    return absl::FailedPreconditionError(
        "a symmetric key: who can check tokens with it can also make them");
  }
  const bool is_private = std::any_of(std::begin(kSecrets), std::end(kSecrets),
                                      [&key](const char* name) { return key.contains(name); });
  if (!is_private) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "a private key: only the identity provider may have it; put its public key here");
}

bool IsForSignatures(const Json& key) {
  const auto use = key.find("use");
  if (use != key.end() && *use != "sig") return false;
  const auto operations = key.find("key_ops");
  return operations == key.end() ||
         (operations->is_array() &&
          std::find(operations->begin(), operations->end(), "verify") != operations->end());
}

std::optional<JwtKeyType> TypeOf(const Json& key) {
  const std::string type = TextOf(key, "kty");
  const std::string curve = TextOf(key, "crv");
  if (type == "RSA") return JwtKeyType::kRsa;
  if (type != "EC") return std::nullopt;
  if (curve == "P-256") return JwtKeyType::kP256;
  if (curve == "P-384") return JwtKeyType::kP384;
  if (curve == "P-521") return JwtKeyType::kP521;
  return std::nullopt;
}

// A number of the key; FAILED_PRECONDITION if it is not there in base64url.
absl::StatusOr<std::string> ReadNumber(const Json& key, const char* name) {
  std::optional<std::string> bytes = DecodeBase64Url(TextOf(key, name));
  if (bytes.has_value() && !bytes->empty()) return *std::move(bytes);
  return absl::FailedPreconditionError(absl::StrCat("a key without a number `", name, "`"));
}

absl::StatusOr<JwtKey> Make(const Json& key, JwtKeyType type) {
  const bool is_rsa = type == JwtKeyType::kRsa;
  ASSIGN_OR_RETURN(const std::string first, ReadNumber(key, is_rsa ? "n" : "x"));
  ASSIGN_OR_RETURN(const std::string second, ReadNumber(key, is_rsa ? "e" : "y"));
  ASSIGN_OR_RETURN(JwtKey made,
                   is_rsa ? MakeRsaKey(first, second) : MakeEcKey(type, first, second));
  made.id = TextOf(key, "kid");
  made.algorithm = TextOf(key, "alg");
  return made;
}

// Appends the key, unless it is for something else.
absl::Status Add(const Json& key, std::vector<JwtKey>& keys) {
  if (!key.is_object()) return absl::FailedPreconditionError("no object");
  RETURN_IF_ERROR(CheckPublic(key));
  const std::optional<JwtKeyType> type = TypeOf(key);
  if (!type.has_value() || !IsForSignatures(key)) return absl::OkStatus();
  ASSIGN_OR_RETURN(JwtKey made, Make(key, *type));
  keys.push_back(std::move(made));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<JwtKey>> ReadJwks(absl::string_view text) {
  const Json document = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  const auto list = document.is_object() ? document.find("keys") : document.end();
  if (list == document.end() || !list->is_array()) {
    return absl::FailedPreconditionError("no JWKS document: it must be {\"keys\": [...]}");
  }
  std::vector<JwtKey> keys;
  absl::Status status;
  for (size_t i = 0; i < list->size() && status.ok(); ++i) {
    status = Add((*list)[i], keys);
    if (!status.ok()) {
      status = absl::FailedPreconditionError(
          absl::StrCat("keys[", i, "] is ", status.message()));
    }
  }
  ERR_clear_error();  // gRPC on this thread must not find what was left
  RETURN_IF_ERROR(status);
  return keys;
}

}  // namespace skiplane::access
