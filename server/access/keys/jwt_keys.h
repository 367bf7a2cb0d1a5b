// The public keys of an identity provider: the text of a PEM file (public keys, certificates, one
// or several) or of a JWKS document (RFC 7517).
//
// Nothing in it is secret: a file with a private or a symmetric key is refused as a whole, since
// whoever wrote that gave away who may make tokens. Keys of a JWKS document that are for something
// else (`use` is not "sig", `key_ops` without "verify"), or of a type that no algorithm here has,
// are left out. A certificate counts as its key: neither its dates nor its issuer are looked at.
// Does not change; used by any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/access/keys/jwt_algorithm.h"

namespace skiplane::access {

struct JwtKey;

inline constexpr size_t kKeysFileBytesMax = 1 << 20;

class JwtKeys {
 public:
  // FAILED_PRECONDITION, naming `file` and which key, if there is no key in it, one that is refused
  // (see above and jwt_key.h), or more than 32.
  static absl::StatusOr<JwtKeys> Parse(absl::string_view text, absl::string_view file);

  // Those that may have signed a token with this `alg` and `kid`. A token without a `kid` (empty)
  // may be of any key, and a key without one may have signed any token; otherwise they are equal.
  std::vector<std::shared_ptr<const JwtKey>> Candidates(const JwtAlgorithm& algorithm,
                                                        absl::string_view id) const;

  size_t size() const { return keys_.size(); }

 private:
  std::vector<std::shared_ptr<const JwtKey>> keys_;
};

}  // namespace skiplane::access
