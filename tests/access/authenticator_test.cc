#include "server/access/authenticator.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/new_token.h"
#include "tests/access/jwt_fixture.h"
#include "tests/support/status_matchers.h"

namespace skiplane::access {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::ReasonIs;
using testing::Required;

// A token and the table that knows it alone.
struct Issued {
  explicit Issued(absl::string_view name) : made(Required(MakeToken(name, {"g"}))) {
    table = std::make_shared<const TokenTable>(Required(TokenTable::Parse(made.line, "tokens")));
  }
  NewToken made;
  std::shared_ptr<const TokenTable> table;
};

std::shared_ptr<const JwtVerifier> SomeJwts() {
  return std::make_shared<const JwtVerifier>(MakeVerifier());
}

Proof Bearer(absl::string_view token) {
  return {.certificate_name = "", .authorization = absl::StrCat("Bearer ", token),
          .is_private = true};
}

Proof Certificate(const std::string& name) {
  return {.certificate_name = name, .authorization = "", .is_private = true};
}

std::string NameOf(const absl::StatusOr<std::shared_ptr<const Principal>>& found) {
  return found.ok() ? (*found)->name : found.status().ToString();
}

std::string NameBy(const Authenticator& authenticator, const Proof& proof) {
  return NameOf(authenticator.Authenticate(proof, kNow));
}

absl::Status Refused(const Authenticator& authenticator, const Proof& proof) {
  const absl::Status status = authenticator.Authenticate(proof, kNow).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  return status;
}

TEST(AuthenticatorTest, WithoutSourcesEverybodyIsAnonymous) {
  const Authenticator authenticator{Sources{}};
  EXPECT_EQ(NameBy(authenticator, {}), "anonymous");
  EXPECT_EQ(NameBy(authenticator, Certificate("x")), "anonymous");
  EXPECT_EQ(NameBy(authenticator, Bearer("skt_x")), "anonymous");
}

TEST(AuthenticatorTest, ATokenOfTheFileIsAPrincipal) {
  const Issued issued("invoicer");
  const Authenticator authenticator({.tokens = issued.table});
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER  ", "bEaReR \t"}) {
    Proof proof = Bearer("");
    proof.authorization = absl::StrCat(scheme, issued.made.token, " ");
    EXPECT_EQ(NameBy(authenticator, proof), "token:invoicer") << scheme;
  }
  EXPECT_EQ((*authenticator.Authenticate(Bearer(issued.made.token), kNow))->groups,
            std::vector<std::string>{"g"});
}

TEST(AuthenticatorTest, AWrongTokenIsRefusedAndNotRepeated) {
  const Issued issued("invoicer");
  const Authenticator authenticator({.tokens = issued.table, .jwts = SomeJwts()});
  const std::string token = issued.made.token;
  for (const std::string& wrong :
       {token + "x", token.substr(0, token.size() - 1), std::string("skt_"), std::string(),
        std::string("Bearer"), token.substr(4), std::string("a.b"), std::string("a.b.c.d"),
        token + ".b.c", std::string("aaaa.bbbb.cccc")}) {
    const absl::Status status = Refused(authenticator, Bearer(wrong));
    EXPECT_THAT(status, ReasonIs("CREDENTIALS_INVALID")) << wrong;
    if (wrong.size() > 8) {
      EXPECT_EQ(status.message().find(wrong), absl::string_view::npos) << status;
    }
  }
}

TEST(AuthenticatorTest, AnotherSchemeIsRefused) {
  const Issued issued("invoicer");
  const Authenticator authenticator({.takes_certificates = true, .tokens = issued.table});
  for (const std::string& header :
       {std::string("Basic YTpi"), "Bearer" + issued.made.token, issued.made.token,
        std::string("Bearer"), std::string(" "), "Basic " + issued.made.token}) {
    Proof proof = Certificate("x");
    proof.authorization = header;
    EXPECT_THAT(Refused(authenticator, proof), ReasonIs("CREDENTIALS_INVALID")) << header;
  }
}

TEST(AuthenticatorTest, ATokenThatOthersMayReadIsRefusedBeforeItIsLookedAt) {
  const Issued issued("invoicer");
  const Authenticator authenticator({.tokens = issued.table, .jwts = SomeJwts()});
  for (const std::string& token : {issued.made.token, SomeToken(), std::string("skt_wrong"),
                                   std::string(10000, 'x')}) {
    Proof proof = Bearer(token);
    proof.is_private = false;
    EXPECT_THAT(Refused(authenticator, proof), ReasonIs("CREDENTIALS_NOT_PRIVATE"));
  }
}

TEST(AuthenticatorTest, ATokenThatIsTooLargeIsRefused) {
  const Issued issued("invoicer");
  const Authenticator authenticator({.tokens = issued.table});
  EXPECT_THAT(std::string(
                  Refused(authenticator, Bearer("skt_" + std::string(8189, 'x'))).message()),
              HasSubstr("more than 8192 bytes"));
}

TEST(AuthenticatorTest, ACertificateIsAPrincipal) {
  const Authenticator authenticator({.takes_certificates = true});
  EXPECT_EQ(NameBy(authenticator, Certificate("billing.internal")), "certificate:billing.internal");
  EXPECT_THAT(Refused(authenticator, Certificate("a b")), ReasonIs("CREDENTIALS_INVALID"));
  EXPECT_THAT(Refused(authenticator, Certificate(std::string(300, 'a'))),
              ReasonIs("CREDENTIALS_INVALID"));
}

// A connection or a session of TLS that began in time went on for ever.
TEST(AuthenticatorTest, ACertificateThatHasExpiredProvesNothingAndNoTokenHelps) {
  const Issued issued("invoicer");
  const Authenticator authenticator({.takes_certificates = true, .tokens = issued.table});
  Proof proof = Certificate("billing");
  proof.certificate_expires = absl::FromUnixSeconds(1000);
  const auto before = authenticator.Authenticate(proof, absl::FromUnixSeconds(999));
  ASSERT_EQ(NameOf(before), "certificate:billing");
  EXPECT_EQ((*before)->expires, proof.certificate_expires);
  for (const std::string& header : {std::string(), "Bearer " + issued.made.token}) {
    proof.authorization = header;
    const auto after = authenticator.Authenticate(proof, absl::FromUnixSeconds(1000));
    EXPECT_THAT(after.status(), ReasonIs("CREDENTIALS_INVALID"));
    EXPECT_THAT(std::string(after.status().message()), HasSubstr("certificate has expired"));
  }
}

TEST(AuthenticatorTest, ACertificateCountsOnlyWhereCertificatesAreTaken) {
  const Issued issued("invoicer");
  const Authenticator authenticator({.tokens = issued.table});
  EXPECT_THAT(Refused(authenticator, Certificate("x")), ReasonIs("CREDENTIALS_MISSING"));
}

TEST(AuthenticatorTest, ATokenGoesBeforeACertificateAlsoWhenItIsWrong) {
  const Issued issued("invoicer");
  const Authenticator authenticator({.takes_certificates = true, .tokens = issued.table});
  Proof proof = Bearer(issued.made.token);
  proof.certificate_name = "proxy";
  EXPECT_EQ(NameBy(authenticator, proof), "token:invoicer");
  proof.authorization = "Bearer skt_wrong";
  EXPECT_THAT(Refused(authenticator, proof), ReasonIs("CREDENTIALS_INVALID"));
}

TEST(AuthenticatorTest, WhoShowsNothingIsToldWhatToSend) {
  const Issued issued("invoicer");
  const struct {
    Sources sources;
    const char* message;
  } kCases[] = {
      {{.takes_certificates = true}, "this broker asks who calls: send a client certificate"},
      {{.tokens = issued.table}, "this broker asks who calls: send `authorization: Bearer ...`"},
      {{.jwts = SomeJwts()}, "this broker asks who calls: send `authorization: Bearer ...`"},
      {{.takes_certificates = true, .tokens = issued.table},
       "this broker asks who calls: send a client certificate, or `authorization: Bearer ...`"},
  };
  for (const auto& test : kCases) {
    const absl::Status status = Refused(Authenticator(test.sources), {});
    EXPECT_THAT(status, ReasonIs("CREDENTIALS_MISSING"));
    EXPECT_EQ(status.message(), test.message);
  }
}

TEST(AuthenticatorTest, WhatIsNotConfiguredIsRefused) {
  const Issued issued("invoicer");
  const absl::Status by_certificates =
      Refused(Authenticator({.takes_certificates = true}), Bearer(issued.made.token));
  EXPECT_THAT(by_certificates, ReasonIs("CREDENTIALS_INVALID"));
  EXPECT_THAT(std::string(by_certificates.message()), HasSubstr("send a client certificate"));
  EXPECT_THAT(Refused(Authenticator({.tokens = issued.table}), Bearer(SomeToken())),
              ReasonIs("CREDENTIALS_INVALID"));
  EXPECT_THAT(Refused(Authenticator({.jwts = SomeJwts()}), Bearer(issued.made.token)),
              ReasonIs("CREDENTIALS_INVALID"));
}

TEST(AuthenticatorTest, AVerifiedJwtIsRememberedUntilItExpires) {
  const Authenticator authenticator({.jwts = SomeJwts()});
  const Proof proof = Bearer(SomeToken());
  const auto first = authenticator.Authenticate(proof, kNow);
  EXPECT_EQ(NameOf(first), "jwt:ann@example.org");
  // The same object: it was not verified again.
  EXPECT_EQ(*authenticator.Authenticate(proof, kNow + absl::Seconds(359)), *first);
  EXPECT_THAT(authenticator.Authenticate(proof, kNow + absl::Seconds(360)),
              ReasonIs("CREDENTIALS_INVALID"));
  EXPECT_NE(*authenticator.Authenticate(proof, kNow), *first);
}

TEST(AuthenticatorTest, AReloadForgetsWhatWasVerified) {
  Authenticator authenticator({.jwts = SomeJwts()});
  const Proof proof = Bearer(SomeToken());
  EXPECT_THAT(authenticator.Authenticate(proof, kNow), IsOk());
  authenticator.Replace({.jwts = std::make_shared<const JwtVerifier>(
                             MakeVerifier(SomeOptions(), Signer::OtherRsa().PublicPem()))});
  EXPECT_THAT(Refused(authenticator, proof), ReasonIs("CREDENTIALS_INVALID"));
}

TEST(AuthenticatorTest, AReloadReplacesAllSources) {
  const Issued old("old"), next("next");
  Authenticator authenticator({.takes_certificates = true, .tokens = old.table});
  authenticator.Replace({.tokens = next.table});
  EXPECT_THAT(Refused(authenticator, Bearer(old.made.token)), ReasonIs("CREDENTIALS_INVALID"));
  EXPECT_THAT(Refused(authenticator, Certificate("x")), ReasonIs("CREDENTIALS_MISSING"));
  EXPECT_EQ(NameBy(authenticator, Bearer(next.made.token)), "token:next");
}

TEST(AuthenticatorTest, ARotationFailsNoCallThatBothTablesKnow) {
  const NewToken old = Required(MakeToken("a", {})), next = Required(MakeToken("a", {}));
  const auto both = std::make_shared<const TokenTable>(
      Required(TokenTable::Parse(old.line + "\n" + next.line, "tokens")));
  const auto last =
      std::make_shared<const TokenTable>(Required(TokenTable::Parse(next.line, "tokens")));
  Authenticator authenticator({.tokens = both, .jwts = SomeJwts()});
  std::atomic<bool> is_over = false;
  std::atomic<int> failures = 0, rounds = 0;
  std::vector<std::thread> callers;
  for (const Proof& proof : {Bearer(next.token), Bearer(SomeToken()), Bearer(SomeToken())}) {
    callers.emplace_back([&, proof] {
      while (!is_over) {
        if (!authenticator.Authenticate(proof, kNow).ok()) ++failures;
        ++rounds;
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    const int before = rounds;
    authenticator.Replace({.tokens = i % 2 == 0 ? last : both, .jwts = SomeJwts()});
    while (rounds < before + 3) std::this_thread::yield();
  }
  is_over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failures, 0);
}

TEST(AuthenticatorTest, WhoCallsComesWithWhatTheRulesAllow) {
  const Issued issued("ci");
  Sources sources{.tokens = issued.table};
  sources.rules = Required(Rules::Parse("allow group:g to read on a", "rules"));
  Authenticator authenticator(std::move(sources));
  const Admitted before = Required(authenticator.Admit(Bearer(issued.made.token), kNow));
  EXPECT_EQ(before.principal->name, "token:ci");
  EXPECT_TRUE(before.grants.Allows(Verb::kRead, "a"));
  EXPECT_FALSE(before.grants.Allows(Verb::kLease, "a"));
  authenticator.Replace({.tokens = issued.table});
  const Admitted after = Required(authenticator.Admit(Bearer(issued.made.token), kNow));
  EXPECT_TRUE(after.grants.AllowsAll(Verb::kLease));
  EXPECT_FALSE(before.grants.Allows(Verb::kLease, "a"));  // as it was when its call came
  EXPECT_THAT(authenticator.Admit({}, kNow).status(), ReasonIs("CREDENTIALS_MISSING"));
}

}  // namespace
}  // namespace skiplane::access
