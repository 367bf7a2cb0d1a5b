#include "server/access/jwt_claims.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/access/jwt_fixture.h"
#include "tests/support/status_matchers.h"

namespace skiplane::access {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::ReasonIs;
using Json = nlohmann::json;

absl::StatusOr<VerifiedJwt> Check(const Json& claims) {
  return CheckClaims(claims.dump(), SomeOptions(), kNow);
}

// Right claims but for this one; without it if `value` is null.
Json With(const std::string& name, const Json& value) {
  Json claims = SomeClaims();
  if (value.is_null()) {
    claims.erase(name);
  } else {
    claims[name] = value;
  }
  return claims;
}

void ExpectRefused(const std::string& name, const Json& value, absl::string_view message) {
  const absl::StatusOr<VerifiedJwt> checked = Check(With(name, value));
  EXPECT_THAT(checked, ReasonIs("CREDENTIALS_INVALID")) << name << " " << value;
  EXPECT_EQ(checked.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(checked.status().message()), HasSubstr(std::string(message)));
  EXPECT_FALSE(absl::StrContains(checked.status().message(), "SECRET")) << checked.status();
}

Json Seconds(absl::Duration from_now) { return absl::ToUnixSeconds(kNow + from_now); }

TEST(JwtClaimsTest, AnotherIssuerIsRefused) {
  for (const Json& issuer :
       {Json(), Json("https://SECRET.example.org"), Json("https://id.example.org/"), Json(""),
        Json(1), Json::array({"https://id.example.org"})}) {
    ExpectRefused("iss", issuer, "is of another issuer (`iss`)");
  }
}

TEST(JwtClaimsTest, TwoClaimsOfOneNameAreRefused) {
  std::string text = With("deep", {{"sub", "a"}, {"iss", "b"}}).dump();
  EXPECT_THAT(CheckClaims(text, SomeOptions(), kNow), IsOk());
  text.insert(1, R"("sub":"SECRET",)");
  const absl::StatusOr<VerifiedJwt> checked = CheckClaims(text, SomeOptions(), kNow);
  EXPECT_THAT(checked, ReasonIs("CREDENTIALS_INVALID"));
  EXPECT_THAT(std::string(checked.status().message()), HasSubstr("has two claims of one name"));
}

TEST(JwtClaimsTest, ANotBeforeThatIsNullIsNoTime) {
  Json claims = SomeClaims();
  claims["nbf"] = nullptr;
  EXPECT_THAT(Check(claims), ReasonIs("CREDENTIALS_INVALID"));
}

TEST(JwtClaimsTest, TheAudienceIsATextOrAListThatHoldsIt) {
  EXPECT_THAT(Check(With("aud", {"other", "skiplane"})), IsOk());
  for (const Json& audience : {Json(), Json("SECRET"), Json(""), Json::array(),
                               Json::array({"SECRET", "skiplane2"}), Json({{"skiplane", 1}})}) {
    ExpectRefused("aud", audience, "is for another audience (`aud`)");
  }
}

TEST(JwtClaimsTest, ATokenExpiresAMinuteAfterItsTime) {
  ExpectRefused("exp", Json(), "has no time of expiry (`exp`)");
  ExpectRefused("exp", "1900000000", "has no time of expiry (`exp`)");
  ExpectRefused("exp", Seconds(absl::Seconds(-60)), "has expired (`exp`)");
  ExpectRefused("exp", 0, "has expired (`exp`)");
  ExpectRefused("exp", -1e300, "has expired (`exp`)");
  ASSERT_OK_AND_ASSIGN(const VerifiedJwt late, Check(With("exp", Seconds(absl::Seconds(-59)))));
  EXPECT_EQ(late.expiry, kNow + absl::Seconds(1));
  EXPECT_THAT(Check(With("exp", 1800000000.5)), IsOk());
  EXPECT_THAT(Check(With("exp", 1e300)), IsOk());
}

TEST(JwtClaimsTest, ATokenIsValidAMinuteBeforeItsTime) {
  EXPECT_THAT(Check(With("nbf", Seconds(absl::Seconds(60)))), IsOk());
  ExpectRefused("nbf", Seconds(absl::Seconds(61)), "is not valid yet (`nbf`)");
  ExpectRefused("nbf", 1e300, "is not valid yet (`nbf`)");
  ExpectRefused("nbf", "SECRET", "`nbf` that is no time");
}

TEST(JwtClaimsTest, TheSubjectIsTheName) {
  ExpectRefused("sub", Json(), "has no subject (`sub`)");
  ExpectRefused("sub", 7, "has no subject (`sub`)");
  for (const Json& subject :
       {Json(""), Json("SECRET name"), Json("SECRET\n"), Json("SECRET\xc3\xa9"),
        Json(std::string(252, 'x')), Json(std::string("SECRET\0", 7))}) {
    ExpectRefused("sub", subject, "is not 1 to 251 bytes of visible ASCII");
  }
  ASSERT_OK_AND_ASSIGN(const VerifiedJwt jwt, Check(With("sub", "auth0|5f7c,x")));
  EXPECT_EQ(jwt.principal.name, "jwt:auth0|5f7c,x");
}

TEST(JwtClaimsTest, GroupsAreATextOrAList) {
  ASSERT_OK_AND_ASSIGN(const VerifiedJwt none, Check(With("groups", Json())));
  EXPECT_THAT(none.principal.groups, IsEmpty());
  ASSERT_OK_AND_ASSIGN(const VerifiedJwt one, Check(With("groups", "ops")));
  EXPECT_THAT(one.principal.groups, ElementsAre("ops"));
  ASSERT_OK_AND_ASSIGN(const VerifiedJwt some,
                       Check(With("groups", {"Domain Admins", "ops", "a,b", ""})));
  EXPECT_THAT(some.principal.groups, ElementsAre("ops"));
  ExpectRefused("groups", Json::array({"ops", 7}), "has groups that are no texts");
  ExpectRefused("groups", {{"SECRET", true}}, "has groups that are no texts");
  ExpectRefused("groups", Json(std::vector<std::string>(257, "g")), "has more than 256 groups");
}

TEST(JwtClaimsTest, TheClaimWithGroupsMayHaveAnotherName) {
  JwtOptions options = SomeOptions();
  options.groups_claim = "roles";
  const Json claims = With("roles", {"lead"});
  ASSERT_OK_AND_ASSIGN(const VerifiedJwt jwt, CheckClaims(claims.dump(), options, kNow));
  EXPECT_THAT(jwt.principal.groups, ElementsAre("lead"));
}

TEST(JwtClaimsTest, WhatIsNoObjectOfJsonIsRefused) {
  for (const absl::string_view text :
       {"", "SECRET", "[]", "\"x\"", "null", "{\"exp\":1e999}", "{\"iss\":\"\xff\"}", "{} {}"}) {
    EXPECT_EQ(CheckClaims(text, SomeOptions(), kNow).status().message(),
              "the JSON Web Token has claims that are no JSON object")
        << text;
  }
  EXPECT_FALSE(CheckClaims(std::string(6000, '['), SomeOptions(), kNow).ok());
}

}  // namespace
}  // namespace skiplane::access
