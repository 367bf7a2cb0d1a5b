#include "server/access/keys/jwt_keys.h"

#include <string>

#include <openssl/err.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/keys/base64url.h"
#include "tests/access/signer.h"
#include "tests/support/status_matchers.h"

namespace skiplane::access {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string Jwks(const Json& key) { return Json({{"keys", {key}}}).dump(); }

// How the text of a file is refused; fails if it is taken.
std::string FileRefusal(absl::string_view text) {
  const absl::Status status = JwtKeys::Parse(text, "path/keys").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << text;
  EXPECT_TRUE(absl::StartsWith(status.message(), "path/keys: ")) << status;
  EXPECT_EQ(ERR_peek_error(), 0UL);
  return std::string(status.message());
}

size_t CandidatesOf(const JwtKeys& keys, absl::string_view algorithm, absl::string_view id = "") {
  return keys.Candidates(*FindJwtAlgorithm(algorithm), id).size();
}

TEST(JwtKeysTest, APemFileMayHaveKeysAndCertificatesOfAllTypes) {
  ASSERT_OK_AND_ASSIGN(
      const JwtKeys keys,
      JwtKeys::Parse(absl::StrCat("the keys of Ann\n", Signer::Rsa().PublicPem(), "\n",
                                  Signer::OtherRsa().CertificatePem(),
                                  Signer::Curve("P-256").PublicPem(),
                                  Signer::Curve("P-384").CertificatePem(),
                                  Signer::Curve("P-521").PublicPem()),
                     "keys"));
  EXPECT_EQ(keys.size(), 5U);
  EXPECT_EQ(CandidatesOf(keys, "RS256"), 2U);
  EXPECT_EQ(CandidatesOf(keys, "ES512"), 1U);
  EXPECT_EQ(ERR_peek_error(), 0UL);
}

TEST(JwtKeysTest, AJwksDocumentNamesItsKeys) {
  Json only_ps = Signer::OtherRsa().PublicJwk("two");
  only_ps["alg"] = "PS256";
  const Json document = {{"keys", {Signer::Rsa().PublicJwk("one"), only_ps,
                                   Signer::Curve("P-384").PublicJwk("three")}}};
  ASSERT_OK_AND_ASSIGN(const JwtKeys keys, JwtKeys::Parse(" \n" + document.dump(2), "keys"));
  EXPECT_EQ(keys.size(), 3U);
  EXPECT_EQ(CandidatesOf(keys, "PS256"), 2U);
  EXPECT_EQ(CandidatesOf(keys, "RS256"), 1U);
  EXPECT_EQ(CandidatesOf(keys, "RS256", "one"), 1U);
  EXPECT_EQ(CandidatesOf(keys, "RS256", "two"), 0U);
  EXPECT_EQ(CandidatesOf(keys, "RS256", "three"), 0U);
  EXPECT_EQ(CandidatesOf(keys, "ES384", "three"), 1U);
  EXPECT_EQ(CandidatesOf(keys, "ES256", "three"), 0U);
  EXPECT_EQ(CandidatesOf(keys, "RS256", "other"), 0U);
}

TEST(JwtKeysTest, KeysForSomethingElseAreLeftOut) {
  for (const Json& change :
       {Json({{"use", "enc"}}), Json({{"use", nullptr}}), Json({{"key_ops", {"encrypt"}}}),
        Json({{"key_ops", "verify"}}), Json({{"kty", "OKP"}}), Json({{"kty", nullptr}})}) {
    Json other = Signer::OtherRsa().PublicJwk("other");
    other.update(change);
    const Json document = {{"keys", {Signer::Rsa().PublicJwk("one"), other}}};
    ASSERT_OK_AND_ASSIGN(const JwtKeys keys, JwtKeys::Parse(document.dump(), "keys"));
    EXPECT_EQ(keys.size(), 1U) << change;
  }
  Json key = Signer::Rsa().PublicJwk("one");
  key["use"] = "sig";
  key["key_ops"] = {"verify"};
  EXPECT_TRUE(JwtKeys::Parse(Jwks(key), "keys").ok());
}

TEST(JwtKeysTest, AFileWithoutAKeyIsRefused) {
  for (const absl::string_view text : {"", "keys", "{\"keys\":[]}", "-----BEGIN"}) {
    EXPECT_THAT(FileRefusal(text), HasSubstr("no public key")) << text;
  }
  for (const absl::string_view text : {"{", "{}", "{\"keys\":{}}", "{\"keys\":[],}"}) {
    EXPECT_THAT(FileRefusal(text), HasSubstr("no JWKS document")) << text;
  }
  EXPECT_THAT(FileRefusal("{\"keys\":[1]}"), HasSubstr("keys[0] is no object"));
}

TEST(JwtKeysTest, APrivateKeyIsRefusedInEitherForm) {
  for (const Signer* signer : {&Signer::Rsa(), &Signer::Curve("P-256")}) {
    EXPECT_THAT(FileRefusal(Signer::OtherRsa().PublicPem() + signer->PrivatePem()),
                HasSubstr("PEM block 2 is a private key: only the identity provider"));
    for (const char* secret : {"d", "p", "q", "dp", "dq", "qi", "oth"}) {
      Json key = signer->PublicJwk("one");
      key[secret] = "AQAB";
      EXPECT_THAT(FileRefusal(Jwks(key)), HasSubstr("keys[0] is a private key"));
    }
  }
}

TEST(JwtKeysTest, ASymmetricKeyIsRefused) {
  EXPECT_THAT(FileRefusal(Jwks({{"kty", "oct"}, {"k", "c2VjcmV0"}})),
              HasSubstr("keys[0] is a symmetric key: who can check"));
  EXPECT_THAT(FileRefusal(Jwks({{"kty", "oct"}})), HasSubstr("a symmetric key"));
  Json key = Signer::Rsa().PublicJwk("one");
  key["k"] = "c2VjcmV0";
  EXPECT_THAT(FileRefusal(Jwks(key)), HasSubstr("a symmetric key"));
}

TEST(JwtKeysTest, AnRsaKeyBelow2048BitsIsRefused) {
  const Signer& small = Signer::Rsa(1024);
  EXPECT_THAT(FileRefusal(small.PublicPem()), HasSubstr("PEM block 1 is an RSA key of 1024 bits"));
  EXPECT_THAT(FileRefusal(Jwks(small.PublicJwk("one"))), HasSubstr("an RSA key of 1024 bits"));
  // Zeros before the number do not make it larger.
  Json padded = small.PublicJwk("one");
  padded["n"] = Encode(std::string(128, '\0') + *DecodeBase64Url(std::string(padded["n"])));
  EXPECT_THAT(FileRefusal(Jwks(padded)), HasSubstr("an RSA key of 1024 bits"));
}

TEST(JwtKeysTest, AnRsaKeyThatIsSlowToCheckIsRefused) {
  Json large = Signer::Rsa().PublicJwk("one");
  large["n"] = Encode(std::string(2000, '\xff'));
  EXPECT_THAT(FileRefusal(Jwks(large)), HasSubstr("an RSA key of 16000 bits"));
}

TEST(JwtKeysTest, AnRsaExponentThatProtectsNothingIsRefused) {
  for (const std::string& exponent :
       {std::string("\1"), std::string("\2"), std::string(1, '\0'), std::string(9, '\xff')}) {
    Json key = Signer::Rsa().PublicJwk("one");
    key["e"] = Encode(exponent);
    EXPECT_THAT(FileRefusal(Jwks(key)), HasSubstr("exponent protects nothing"));
  }
}

TEST(JwtKeysTest, APointThatIsNotOnItsCurveIsRefused) {
  Json key = Signer::Curve("P-256").PublicJwk("one");
  key["y"] = key["x"];
  EXPECT_THAT(FileRefusal(Jwks(key)), HasSubstr("no point of its curve"));
  key = Signer::Curve("P-256").PublicJwk("one");
  key["crv"] = "P-384";
  EXPECT_THAT(FileRefusal(Jwks(key)), HasSubstr("no point of its curve"));
}

TEST(JwtKeysTest, OtherCurvesAndTypesAreRefusedInPemForm) {
  for (const char* curve : {"secp256k1", "P-224"}) {
    EXPECT_THAT(FileRefusal(Signer::Curve(curve).PublicPem()),
                HasSubstr("an elliptic curve other"));
  }
}

TEST(JwtKeysTest, ANumberThatIsNotBase64UrlIsRefusedAndDoesNotEndTheProcess) {
  for (const char* text : {"A===", "", "AQAB=", "A", "AQ AB", "+/+/", "AR"}) {
    Json key = Signer::Rsa().PublicJwk("one");
    key["e"] = text;
    EXPECT_THAT(FileRefusal(Jwks(key)), HasSubstr("a key without a number `e`")) << text;
  }
  Json key = Signer::Curve("P-256").PublicJwk("one");
  key.erase("y");
  EXPECT_THAT(FileRefusal(Jwks(key)), HasSubstr("a key without a number `y`"));
}

TEST(JwtKeysTest, PemThatIsCutOrChangedIsRefused) {
  const std::string pem = Signer::Rsa().PublicPem();
  std::string changed = pem;
  changed[100] = '!';
  for (const std::string& broken : {pem.substr(0, pem.size() / 2), changed}) {
    EXPECT_THAT(FileRefusal(pem + broken), HasSubstr("PEM block 2 is cut or changed"));
  }
  EXPECT_THAT(FileRefusal("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"),
              HasSubstr("PEM block 1 is neither a public key nor a certificate"));
}

TEST(JwtKeysTest, TooManyKeysAndTooLargeFilesAreRefused) {
  Json document = {{"keys", Json::array()}};
  for (int i = 0; i < 32; ++i) document["keys"].push_back(Signer::Rsa().PublicJwk(""));
  EXPECT_TRUE(JwtKeys::Parse(document.dump(), "keys").ok());
  document["keys"].push_back(Signer::Rsa().PublicJwk(""));
  EXPECT_THAT(FileRefusal(document.dump()), HasSubstr("more than 32 keys"));
  EXPECT_THAT(FileRefusal(std::string((1 << 20) + 1, ' ')), HasSubstr("above 1048576 bytes"));
}

}  // namespace
}  // namespace skiplane::access
