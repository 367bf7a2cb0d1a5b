// Says who calls, from what a connection proved, and what that one may do.
//
// A bearer token goes before a certificate: a proxy may have a certificate of its own and pass on
// the tokens of its callers. Where nothing is configured that could prove anything, everybody is
// "anonymous". Messages say what to do and repeat nothing of the credentials.
//
// Thread-safe. A reload replaces all sources together, while calls go on: a call is judged by those
// of before or those of after, never by a mixture.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/jwt.h"
#include "server/access/principal.h"
#include "server/access/rules.h"
#include "server/access/token_file.h"
#include "server/base/mutex.h"

namespace skiplane::access {

// What a connection and a call show.
struct Proof {
  std::string certificate_name;  // in the client's certificate, which was verified; else empty
  std::string authorization;     // the header; empty if there is none
  bool is_private = false;       // TLS, or from this machine
  absl::Time certificate_expires = absl::InfiniteFuture();
};

// What credentials are checked against; none of them is configured by default.
struct Sources {
  bool takes_certificates = false;
  std::shared_ptr<const TokenTable> tokens = nullptr;
  std::shared_ptr<const JwtVerifier> jwts = nullptr;
  Rules rules{};  // everything is allowed by default
};

// A caller that was authenticated, and what it may do.
struct Admitted {
  std::shared_ptr<const Principal> principal;
  Grants grants;
};

class Authenticator {
 public:
  explicit Authenticator(Sources sources);
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  // UNAUTHENTICATED with CREDENTIALS_MISSING, CREDENTIALS_INVALID, or CREDENTIALS_NOT_PRIVATE for a
  // bearer token that others may have read; that is said before it is looked at.
  absl::StatusOr<std::shared_ptr<const Principal>> Authenticate(const Proof& proof,
                                                                absl::Time now) const;

  // The same with the caller's grants, by the same sources.
  absl::StatusOr<Admitted> Admit(const Proof& proof, absl::Time now) const;

  // Forgets which JSON Web Tokens were verified.
  void Replace(Sources sources);

 private:
  class Generation;

  std::shared_ptr<Generation> Current() const;

  mutable base::Mutex mutex_;
  std::shared_ptr<Generation> current_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::access
