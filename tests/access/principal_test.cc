#include "server/access/principal.h"

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace skiplane::access {
namespace {

using testing::IsOkAndHolds;
using testing::ReasonIs;
using testing::StatusIs;

TEST(PrincipalTest, ANameBeginsWithItsSource) {
  EXPECT_THAT(PrincipalName(kCertificatePrefix, "billing.internal"),
              IsOkAndHolds("certificate:billing.internal"));
  EXPECT_THAT(PrincipalName(kTokenPrefix, "invoicer"), IsOkAndHolds("token:invoicer"));
  EXPECT_THAT(PrincipalName(kJwtPrefix, "ann@example.org"), IsOkAndHolds("jwt:ann@example.org"));
}

TEST(PrincipalTest, ASourceThatNamesAnotherKeepsItsOwnPrefix) {
  EXPECT_THAT(PrincipalName(kJwtPrefix, "certificate:billing"),
              IsOkAndHolds("jwt:certificate:billing"));
  EXPECT_THAT(PrincipalName(kJwtPrefix, "anonymous"), IsOkAndHolds("jwt:anonymous"));
}

TEST(PrincipalTest, WhatIsNotVisibleAsciiIsRefusedAndNotRepeated) {
  for (const absl::string_view name :
       {absl::string_view(""), absl::string_view("a b"), absl::string_view("a\nb"),
        absl::string_view("a\0b", 3), absl::string_view("a\x7f"), absl::string_view("J\xc3\xb6rg"),
        absl::string_view("a\t"), absl::string_view(" "),
        absl::string_view("other types of SAN")}) {
    const absl::StatusOr<std::string> made = PrincipalName(kJwtPrefix, name);
    EXPECT_THAT(made, StatusIs(absl::StatusCode::kUnauthenticated));
    EXPECT_THAT(made, ReasonIs("CREDENTIALS_INVALID"));
    EXPECT_EQ(made.status().message(),
              "the name of the jwt is not 1 to 251 bytes of visible ASCII");
  }
}

TEST(PrincipalTest, ALongNameIsRefusedNotCut) {
  EXPECT_TRUE(PrincipalName(kTokenPrefix, std::string(249, 'x')).ok());
  EXPECT_FALSE(PrincipalName(kTokenPrefix, std::string(250, 'x')).ok());
}

TEST(PrincipalTest, OnlyNamesOfSourcesAreNamesOfPrincipals) {
  EXPECT_TRUE(IsPrincipalName("anonymous"));
  EXPECT_TRUE(IsPrincipalName("token:x"));
  for (const absl::string_view name :
       {"", "x", "token:", "certificate:", "jwt:", "group:x", "everyone", "Token:x", "anonymou"}) {
    EXPECT_FALSE(IsPrincipalName(name)) << name;
  }
}

TEST(PrincipalTest, AGroupNameHasNothingThatAFileGivesAMeaning) {
  for (const absl::string_view name : {"ops", "/realm/ops", "team:a_b-c.d@example.org"}) {
    EXPECT_TRUE(IsGroupName(name)) << name;
  }
  for (const absl::string_view name : {"", "a b", "a,b", "#a", "a=b", "a*", "gr\xc3\xbcn"}) {
    EXPECT_FALSE(IsGroupName(name)) << name;
  }
  EXPECT_TRUE(IsGroupName(std::string(128, 'x')));
  EXPECT_FALSE(IsGroupName(std::string(129, 'x')));
}

}  // namespace
}  // namespace skiplane::access
