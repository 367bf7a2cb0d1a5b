// The algorithms by which JSON Web Tokens may be signed: those with a public key. HS* and `none`
// are not among them, whatever a file or a token says.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace skiplane::access {

enum class JwtKeyType { kRsa, kP256, kP384, kP521 };

struct JwtAlgorithm {
  absl::string_view name;
  JwtKeyType key;
  // Of a signature; 0: as the key says. cjose takes any size for an elliptic curve.
  size_t signature_bytes;
};

// Null if there is none of this name.
const JwtAlgorithm* FindJwtAlgorithm(absl::string_view name);

// Their names, for messages.
absl::string_view JwtAlgorithmNames();

}  // namespace skiplane::access
