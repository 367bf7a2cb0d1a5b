// Makes keys and JSON Web Tokens for tests, with OpenSSL alone: what is tested has no part in it.
#pragma once

#include <memory>
#include <string>

#include <openssl/evp.h>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace skiplane::access {

class Signer {
 public:
  // An RSA key of so many bits, or one of a curve, as "P-256". Made once in a process for each.
  static const Signer& Rsa(int bits = 2048);
  static const Signer& Curve(const std::string& name);
  // Another key of the same kind than the above.
  static const Signer& OtherRsa();

  std::string PublicPem() const;
  std::string PrivatePem() const;
  std::string CertificatePem() const;
  // With "kid": `id`, unless that is empty.
  nlohmann::json PublicJwk(const std::string& id) const;

  // A token with this header and these claims, signed by the `alg` of the header.
  std::string Sign(const nlohmann::json& header, const nlohmann::json& claims) const;
  // The same of any text as payload.
  std::string SignText(const nlohmann::json& header, absl::string_view payload) const;

 private:
  explicit Signer(EVP_PKEY* key) : key_(key, &EVP_PKEY_free) {}

  std::string SignatureOf(const std::string& algorithm, const std::string& input) const;
  std::string Number(const char* name, size_t size) const;

  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
};

// Base64url without padding.
std::string Encode(absl::string_view text);

// "header.payload.", as a token begins.
std::string Unsigned(absl::string_view header, absl::string_view payload);

// HMAC-SHA-256 of `input`.
std::string Hmac(absl::string_view key, absl::string_view input);

}  // namespace skiplane::access
