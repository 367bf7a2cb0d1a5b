#include "server/access/jwt.h"

#include <string>

#include <openssl/err.h>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/access/jwt_fixture.h"
#include "tests/support/status_matchers.h"

namespace skiplane::access {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::ReasonIs;
using testing::StatusIs;
using Json = nlohmann::json;

// How the token is refused; fails if it is taken, or if the message repeats something of it.
std::string Refusal(const std::string& token, const JwtVerifier& verifier = MakeVerifier()) {
  const absl::StatusOr<VerifiedJwt> verified = verifier.Verify(token, kNow);
  EXPECT_THAT(verified, StatusIs(absl::StatusCode::kUnauthenticated)) << token;
  EXPECT_THAT(verified, ReasonIs("CREDENTIALS_INVALID"));
  EXPECT_EQ(ERR_peek_error(), 0UL);  // gRPC's TLS on this thread would take it for its own
  const std::string message(verified.status().message());
  for (const absl::string_view part : absl::StrSplit(token, '.')) {
    EXPECT_FALSE(part.size() > 3 && absl::StrContains(message, part)) << message;
  }
  return message;
}

// The token with other text instead of one of its three parts.
std::string WithPart(const std::string& token, size_t which, const std::string& text) {
  std::vector<std::string> parts = absl::StrSplit(token, '.');
  parts[which] = text;
  return absl::StrJoin(parts, ".");
}

std::string PartOf(const std::string& token, size_t which) {
  return std::vector<std::string>(absl::StrSplit(token, '.'))[which];
}

TEST(JwtTest, ATokenOfEachAlgorithmIsTaken) {
  const JwtVerifier verifier = MakeVerifier();
  const struct {
    const char* algorithm;
    const Signer* signer;
    const char* key;
  } kCases[] = {
      {"RS256", &Signer::Rsa(), "rsa"},          {"RS384", &Signer::Rsa(), "rsa"},
      {"RS512", &Signer::Rsa(), "rsa"},          {"PS256", &Signer::Rsa(), "rsa"},
      {"PS384", &Signer::Rsa(), "rsa"},          {"PS512", &Signer::Rsa(), "rsa"},
      {"ES256", &Signer::Curve("P-256"), "P-256"}, {"ES384", &Signer::Curve("P-384"), "P-384"},
      {"ES512", &Signer::Curve("P-521"), "P-521"},
  };
  for (const auto& test : kCases) {
    for (const Json& header : {Json({{"alg", test.algorithm}, {"kid", test.key}}),
                               Json({{"alg", test.algorithm}, {"typ", "JWT"}})}) {
      const absl::StatusOr<VerifiedJwt> verified =
          verifier.Verify(test.signer->Sign(header, SomeClaims()), kNow);
      ASSERT_THAT(verified, IsOk()) << header;
      EXPECT_EQ(verified->principal.name, "jwt:ann@example.org");
      EXPECT_THAT(verified->principal.groups, ElementsAre("ops", "billing"));
      EXPECT_EQ(verified->expiry, kNow + absl::Seconds(360));
    }
  }
}

TEST(JwtTest, AnAlgorithmThatIsNotListedIsRefused) {
  JwtOptions options = SomeOptions();
  options.algorithms = {"PS256"};
  EXPECT_THAT(Refusal(SomeToken(), MakeVerifier(options)), HasSubstr("not listed (`alg`)"));
}

TEST(JwtTest, AnUnsignedTokenIsRefused) {
  for (const char* none : {"none", "None", "NONE"}) {
    const std::string token =
        Unsigned(Json({{"alg", none}}).dump(), SomeClaims().dump());
    EXPECT_THAT(Refusal(token), HasSubstr("(`alg`)")) << none;
    EXPECT_THAT(Refusal(token + PartOf(SomeToken(), 2)), HasSubstr("(`alg`)")) << none;
  }
  EXPECT_THAT(Refusal(WithPart(SomeToken(), 2, "")), HasSubstr("wrong signature"));
}

TEST(JwtTest, ATokenSignedWithThePublicKeyAsASecretIsRefused) {
  const std::string pem = Signer::Rsa().PublicPem();
  const std::string start =
      Unsigned(Json({{"alg", "HS256"}, {"kid", "rsa"}}).dump(), SomeClaims().dump());
  const std::string input = start.substr(0, start.size() - 1);
  for (const std::string& secret : {pem, Signer::Rsa().PublicJwk("rsa").dump(),
                                    Signer::Rsa().PublicJwk("rsa")["n"].get<std::string>()}) {
    const std::string token = start + Encode(Hmac(secret, input));
    EXPECT_THAT(Refusal(token), HasSubstr("not listed (`alg`)"));
    EXPECT_THAT(Refusal(token, MakeVerifier(SomeOptions(), pem)), HasSubstr("not listed"));
  }
}

TEST(JwtTest, OptionsThatProtectNothingAreRefused) {
  const JwtKeys keys = testing::Required(JwtKeys::Parse(SomeJwks(), "keys"));
  for (const std::vector<std::string>& algorithms :
       {std::vector<std::string>{}, {"HS256"}, {"RS256", "HS512"}, {"none"}, {"rs256"}, {""}}) {
    JwtOptions options = SomeOptions();
    options.algorithms = algorithms;
    EXPECT_THAT(JwtVerifier::Make(options, keys), StatusIs(absl::StatusCode::kFailedPrecondition));
  }
  for (std::string JwtOptions::*member : {&JwtOptions::issuer, &JwtOptions::audience}) {
    JwtOptions options = SomeOptions();
    options.*member = "";
    EXPECT_THAT(JwtVerifier::Make(options, keys), StatusIs(absl::StatusCode::kFailedPrecondition));
  }
}

TEST(JwtTest, AKeyChecksOnlySignaturesOfItsType) {
  EXPECT_THAT(Refusal(Signer::Rsa().Sign({{"alg", "RS256"}, {"kid", "P-256"}}, SomeClaims())),
              HasSubstr("a key that is not known"));
  const Json of_curve = {{"alg", "ES256"}, {"kid", "rsa"}};
  EXPECT_THAT(Refusal(Signer::Curve("P-256").Sign(of_curve, SomeClaims())),
              HasSubstr("a key that is not known"));
  // cjose itself would take these: it does not ask which curve an algorithm is for.
  for (const char* algorithm : {"ES384", "ES512"}) {
    const std::string token =
        Signer::Curve("P-256").Sign({{"alg", algorithm}, {"kid", "P-256"}}, SomeClaims());
    EXPECT_THAT(Refusal(token), HasSubstr("a key that is not known"));
    EXPECT_THAT(Refusal(token, MakeVerifier(SomeOptions(), Signer::Curve("P-256").PublicPem())),
                HasSubstr("a key that is not known"));
  }
}

TEST(JwtTest, AKeyWithAnAlgorithmChecksNoOther) {
  Json key = Signer::Rsa().PublicJwk("rsa");
  key["alg"] = "PS256";
  const JwtVerifier verifier = MakeVerifier(SomeOptions(), Json({{"keys", {key}}}).dump());
  EXPECT_THAT(Refusal(SomeToken(), verifier), HasSubstr("a key that is not known"));
  EXPECT_THAT(verifier.Verify(Signer::Rsa().Sign({{"alg", "PS256"}}, SomeClaims()), kNow), IsOk());
}

TEST(JwtTest, AKidThatNoKeyHasIsRefused) {
  for (const Json& id : {Json("other"), Json("RSA"), Json("rsa ")}) {
    EXPECT_THAT(Refusal(Signer::Rsa().Sign({{"alg", "RS256"}, {"kid", id}}, SomeClaims())),
                HasSubstr("a key that is not known"));
  }
  for (const Json& id : {Json(7), Json(nullptr), Json::array({"rsa"})}) {
    EXPECT_THAT(Refusal(Signer::Rsa().Sign({{"alg", "RS256"}, {"kid", id}}, SomeClaims())),
                HasSubstr("a `kid` that is no text"));
  }
}

TEST(JwtTest, AKeyOfAPemFileMayHaveAnyKid) {
  const JwtVerifier verifier = MakeVerifier(
      SomeOptions(), Signer::OtherRsa().PublicPem() + Signer::Rsa().PublicPem());
  EXPECT_THAT(verifier.Verify(SomeToken(), kNow), IsOk());
}

TEST(JwtTest, ATokenOfAnotherKeyIsRefused) {
  for (const Json& header :
       {Json({{"alg", "RS256"}, {"kid", "rsa"}}), Json({{"alg", "PS512"}}),
        // What a token says of its key is not looked at.
        Json({{"alg", "RS256"}, {"jwk", Signer::OtherRsa().PublicJwk("rsa")}})}) {
    EXPECT_THAT(Refusal(Signer::OtherRsa().Sign(header, SomeClaims())),
                HasSubstr("wrong signature"));
  }
}

TEST(JwtTest, ACritHeaderIsRefused) {
  for (const Json& critical : {Json::array({"b64"}), Json::array(), Json(nullptr), Json("exp")}) {
    EXPECT_THAT(Refusal(Signer::Rsa().Sign(
                    {{"alg", "RS256"}, {"b64", false}, {"crit", critical}}, SomeClaims())),
                HasSubstr("a `crit` header"));
  }
}

TEST(JwtTest, AHeaderThatIsNoObjectWithAnAlgorithmIsRefused) {
  const std::string token = SomeToken();
  for (const std::string& header :
       {std::string("{"), std::string("[]"), std::string("[\"RS256\"]"), std::string("{}"),
        std::string("{\"alg\":1}"), std::string("{\"alg\":null}"), std::string("\"RS256\""),
        std::string("{\"alg\":\"XX256\"}"), std::string("{\"alg\":\"RS256\\u0000\"}"),
        std::string("\xff"), std::string(5000, '[')}) {
    Refusal(WithPart(token, 0, Encode(header)));
  }
}

TEST(JwtTest, EveryChangedByteOfATokenIsRefused) {
  for (const std::string& token :
       {SomeToken(),
        Signer::Curve("P-256").Sign({{"alg", "ES256"}, {"kid", "P-256"}}, SomeClaims())}) {
    const JwtVerifier verifier = MakeVerifier();
    for (size_t i = 0; i < token.size(); ++i) {
      std::string changed = token;
      changed[i] = token[i] == 'A' ? 'B' : 'A';
      EXPECT_FALSE(verifier.Verify(changed, kNow).ok()) << i << " of " << token.size();
      changed[i] = static_cast<char>(token[i] ^ 1);  // also bits that a decoder would drop
      EXPECT_FALSE(verifier.Verify(changed, kNow).ok()) << i << " of " << token.size();
    }
  }
}

TEST(JwtTest, ATokenThatIsCutIsRefused) {
  const JwtVerifier verifier = MakeVerifier();
  const std::string token = SomeToken();
  for (size_t size = 0; size < token.size(); ++size) {
    EXPECT_FALSE(verifier.Verify(token.substr(0, size), kNow).ok()) << size;
  }
  EXPECT_THAT(Refusal(token + "."), HasSubstr("not three parts"));
  EXPECT_THAT(Refusal(token + token), HasSubstr("not three parts"));
}

TEST(JwtTest, PaddingThatEndsCjoseDoesNotEndTheBroker) {
  const std::string token = SomeToken();
  for (const char* part : {"A===", "A", "AA==", "AB", "AAAA=", "=", "====", "A A", "A+/A",
                                  "A\nA", "AAA="}) {
    for (const size_t which : {0U, 1U, 2U}) {
      EXPECT_THAT(Refusal(WithPart(token, which, part)), HasSubstr("not three parts")) << part;
    }
  }
  EXPECT_THAT(Refusal(token + "="), HasSubstr("not three parts"));
  EXPECT_THAT(Refusal(WithPart(token, 2, std::string("AA\0A", 4))), HasSubstr("not three parts"));
}

TEST(JwtTest, ASignatureOfACurveHasOneSize) {
  const std::string token =
      Signer::Curve("P-256").Sign({{"alg", "ES256"}, {"kid", "P-256"}}, SomeClaims());
  std::string signature;
  ASSERT_TRUE(absl::WebSafeBase64Unescape(PartOf(token, 2), &signature));
  ASSERT_EQ(signature.size(), 64U);
  // The same two numbers with a zero before each, which cjose itself would take.
  const std::string longer = std::string(1, '\0') + signature.substr(0, 32) +
                             std::string(1, '\0') + signature.substr(32);
  EXPECT_THAT(Refusal(WithPart(token, 2, Encode(longer))), HasSubstr("wrong signature"));
  EXPECT_THAT(Refusal(WithPart(token, 2, Encode(signature + '\0'))), HasSubstr("wrong signature"));
  EXPECT_THAT(Refusal(WithPart(token, 2, Encode(std::string(64, '\0')))),
              HasSubstr("wrong signature"));
}

TEST(JwtTest, ATokenAbove8KiBIsRefused) {
  const JwtVerifier verifier = MakeVerifier();
  Json claims = SomeClaims();
  claims["x"] = std::string(5000, 'x');
  const std::string fits = SomeToken(claims);
  ASSERT_LE(fits.size(), 8192U);
  EXPECT_THAT(verifier.Verify(fits, kNow), IsOk());
  claims["x"] = std::string(6000, 'x');
  EXPECT_THAT(Refusal(SomeToken(claims)), HasSubstr("more than 8192 bytes"));
}

}  // namespace
}  // namespace skiplane::access
