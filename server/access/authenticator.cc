#include "server/access/authenticator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/access/digest.h"
#include "server/access/jwt_cache.h"
#include "server/access/limits.h"
#include "server/base/bearer_token.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"

namespace skiplane::access {
namespace {

using Found = absl::StatusOr<std::shared_ptr<const Principal>>;

// The token of an `authorization` header.
absl::StatusOr<absl::string_view> BearerOf(absl::string_view header) {
  constexpr absl::string_view kScheme = "bearer ";
  if (!absl::StartsWithIgnoreCase(header, kScheme)) {
    return InvalidCredentials(
        "`authorization` must be `Bearer` and a token; no other scheme is taken");
  }
  return absl::StripAsciiWhitespace(header.substr(kScheme.size()));
}

}  // namespace

// The sources from one reload to the next, and what they have verified.
class Authenticator::Generation {
 public:
  explicit Generation(Sources sources)
      : sources_(std::move(sources)), verified_(kJwtsRememberedMax) {}

  Found Authenticate(const Proof& proof, absl::Time now) {
    if (!TakesTokens() && !sources_.takes_certificates) return Anonymous();
    // The connection, or the session of TLS that it goes on with, may be older.
    if (proof.certificate_expires <= now) {
      return InvalidCredentials("the client certificate has expired: connect with a newer one");
    }
    if (!proof.authorization.empty()) return ByToken(proof, now);
    if (sources_.takes_certificates && !proof.certificate_name.empty()) {
      return ByCertificate(proof.certificate_name, proof.certificate_expires);
    }
    return base::Refuse(absl::StatusCode::kUnauthenticated, "CREDENTIALS_MISSING",
                        absl::StrCat("this broker asks who calls: send ", Taken()));
  }

  const Rules& rules() const { return sources_.rules; }

 private:
  bool TakesTokens() const { return sources_.tokens != nullptr || sources_.jwts != nullptr; }

  absl::string_view Taken() const {
    if (!TakesTokens()) return "a client certificate";
    if (!sources_.takes_certificates) return "`authorization: Bearer ...`";
    return "a client certificate, or `authorization: Bearer ...`";
  }

  static Found Anonymous() {
    static const auto* const anonymous = new std::shared_ptr<const Principal>(
        std::make_shared<const Principal>(Principal{std::string(kAnonymous), {}}));
    return *anonymous;
  }

  static Found ByCertificate(absl::string_view name, absl::Time expires) {
    ASSIGN_OR_RETURN(std::string whole, PrincipalName(kCertificatePrefix, name));
    return std::make_shared<const Principal>(Principal{std::move(whole), {}, expires});
  }

  Found ByToken(const Proof& proof, absl::Time now) {
    ASSIGN_OR_RETURN(const absl::string_view token, BearerOf(proof.authorization));
    if (!proof.is_private) {
      return base::Refuse(absl::StatusCode::kUnauthenticated, "CREDENTIALS_NOT_PRIVATE",
                          "a bearer token over a connection that others may read: use TLS, and "
                          "replace the token");
    }
    if (!TakesTokens()) {
      return InvalidCredentials("this broker takes no bearer tokens: send a client certificate");
    }
    if (token.size() > kBearerBytesMax) {
      return InvalidCredentials(
          absl::StrCat("the bearer token has more than ", kBearerBytesMax, " bytes"));
    }
    if (absl::StartsWith(token, base::kBearerTokenStart)) return ByTable(token);
    if (std::count(token.begin(), token.end(), '.') == 2) return ByJwt(token, now);
    return InvalidCredentials("the bearer token is neither one of Skiplane nor a JSON Web Token");
  }

  Found ByTable(absl::string_view token) const {
    std::shared_ptr<const Principal> found;
    if (sources_.tokens != nullptr) found = sources_.tokens->Find(token);
    if (found != nullptr) return found;
    return InvalidCredentials("the bearer token is not known here, or no longer");
  }

  Found ByJwt(absl::string_view token, absl::Time now) {
    if (sources_.jwts == nullptr) return InvalidCredentials("this broker takes no JSON Web Tokens");
    const Digest digest = Sha256(token);
    if (std::shared_ptr<const Principal> known = verified_.Find(digest, now)) return known;
    ASSIGN_OR_RETURN(VerifiedJwt jwt, sources_.jwts->Verify(token, now));
    jwt.principal.expires = jwt.expiry;
    auto principal = std::make_shared<const Principal>(std::move(jwt.principal));
    verified_.Remember(digest, principal, jwt.expiry);
    return principal;
  }

  const Sources sources_;
  JwtCache verified_;
};

Authenticator::Authenticator(Sources sources)
    : current_(std::make_shared<Generation>(std::move(sources))) {}

Authenticator::~Authenticator() = default;

Found Authenticator::Authenticate(const Proof& proof, absl::Time now) const {
  return Current()->Authenticate(proof, now);
}

absl::StatusOr<Admitted> Authenticator::Admit(const Proof& proof, absl::Time now) const {
  const std::shared_ptr<Generation> current = Current();
  Admitted admitted;
  ASSIGN_OR_RETURN(admitted.principal, current->Authenticate(proof, now));
  admitted.grants = current->rules().Resolve(*admitted.principal);
  return admitted;
}

void Authenticator::Replace(Sources sources) {
  auto next = std::make_shared<Generation>(std::move(sources));
  {
    const base::MutexLock lock(mutex_);
    current_.swap(next);
  }
  // What was before ends here, outside of the lock, unless a call still uses it.
}

std::shared_ptr<Authenticator::Generation> Authenticator::Current() const {
  const base::MutexLock lock(mutex_);
  return current_;
}

}  // namespace skiplane::access
