// A public key that signatures are checked with, bound to what it is for: an RSA key never checks
// an ES signature, a key that names its algorithm never one of another.
//
// Only the units that make and use keys include this: cjose stays behind it. Immutable, and used by
// any thread; cjose's count of a key's users is not atomic, so a key is never shared by that count.
#pragma once

#include <memory>
#include <string>

#include <cjose/jwk.h>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/keys/jwt_algorithm.h"

namespace skiplane::access {

struct JwtKeyDeleter {
  void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
};

struct JwtKey {
  std::string id;         // its `kid`; empty if it has none, as keys of PEM files
  std::string algorithm;  // its `alg`; empty for any that suits its type
  JwtKeyType type;
  std::unique_ptr<cjose_jwk_t, JwtKeyDeleter> key;
};

// From big-endian numbers. FAILED_PRECONDITION for a modulus below 2048 bits or above 8192, an
// exponent that makes signatures easy to forge, and a point that is not on its curve.
absl::StatusOr<JwtKey> MakeRsaKey(absl::string_view modulus, absl::string_view exponent);
absl::StatusOr<JwtKey> MakeEcKey(JwtKeyType curve, absl::string_view x, absl::string_view y);

}  // namespace skiplane::access
