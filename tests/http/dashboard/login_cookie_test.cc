#include "server/http/dashboard/login_cookie.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"

namespace skiplane::http::dashboard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<std::optional<std::string>> Read(Fields fields, bool has_tls = false) {
  return TokenOf({"POST", "/x", std::move(fields)}, has_tls);
}

// What came, if it is right; "-" if there is none.
std::string Found(const std::string& cookies, bool has_tls = false) {
  return Read({{"cookie", cookies}}, has_tls).value().value_or("-");
}

TEST(LoginCookie, ItIsFoundAmongOthers) {
  EXPECT_EQ(Found("skiplane_session=skt_a"), "skt_a");
  EXPECT_EQ(Found("a=b; skiplane_session=a.b-c_d~e+f/g==; c"), "a.b-c_d~e+f/g==");
  EXPECT_EQ(Found("a=b;skiplane_session = skt_a ;"), "skt_a");
  EXPECT_EQ(*Read({{"cookie", "a=b"}, {"cookie", "skiplane_session=skt_a"}}).value(), "skt_a");
}

TEST(LoginCookie, OtherCookiesAreNone) {
  for (const char* cookies : {"", ";", "=", "a=b", "xskiplane_session=a", "skiplane_sessions=a",
                              "Skiplane_Session=a", "a=skiplane_session=b"}) {
    EXPECT_EQ(Found(cookies), "-") << cookies;
  }
  EXPECT_FALSE(Read({{"authorization", "skiplane_session=a"}}).value().has_value());
}

TEST(LoginCookie, WhatHoldsNoTokenIsRefusedAndNotRepeated) {
  for (const std::string& value : {std::string(), std::string("\"canary\""),
                                   std::string("canary canary"), std::string("canary,"),
                                   std::string("canary\x80"), std::string(4001, 'c')}) {
    const auto read = Read({{"cookie", "skiplane_session=" + value}});
    EXPECT_TRUE(absl::IsInvalidArgument(read.status())) << value;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("log in again"));
    EXPECT_THAT(std::string(read.status().message()), Not(HasSubstr("canary")));
  }
  EXPECT_EQ(Found("skiplane_session=" + std::string(4000, 'c')), std::string(4000, 'c'));
}

TEST(LoginCookie, TwoOfThemAreRefused) {
  for (const Fields& fields : {Fields{{"cookie", "skiplane_session=a; skiplane_session=b"}},
                               Fields{{"cookie", "skiplane_session=a"},
                                      {"cookie", "skiplane_session=a"}}}) {
    const auto read = Read(fields);
    EXPECT_TRUE(absl::IsInvalidArgument(read.status()));
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("twice"));
  }
}

TEST(LoginCookie, ByTlsOnlyTheOneOfTlsCounts) {
  EXPECT_EQ(Found("skiplane_session=a", true), "-");
  EXPECT_EQ(Found("__Host-skiplane_session=a", true), "a");
  EXPECT_EQ(Found("skiplane_session=a; __Host-skiplane_session=b", true), "b");
}

TEST(LoginCookie, BehindAProxyTheOneOfTlsGoesFirst) {
  EXPECT_EQ(Found("__Host-skiplane_session=b"), "b");
  EXPECT_EQ(Found("skiplane_session=a; __Host-skiplane_session=b"), "b");
}

TEST(LoginCookie, BrowsersAreToldToKeepItFromScriptsAndOtherSites) {
  EXPECT_EQ(KeepCookie("skt_a", false),
            (Fields{{"Set-Cookie", "skiplane_session=skt_a; HttpOnly; SameSite=Strict; Path=/; "
                                   "Max-Age=43200"}}));
  EXPECT_EQ(KeepCookie("skt_a", true),
            (Fields{{"Set-Cookie", "__Host-skiplane_session=skt_a; HttpOnly; SameSite=Strict; "
                                   "Path=/; Max-Age=43200; Secure"}}));
}

TEST(LoginCookie, BrowsersAreToldToForgetBoth) {
  EXPECT_EQ(DropCookies(),
            (Fields{{"Set-Cookie",
                     "skiplane_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"},
                    {"Set-Cookie", "__Host-skiplane_session=; HttpOnly; SameSite=Strict; Path=/; "
                                   "Max-Age=0; Secure"}}));
}

}  // namespace
}  // namespace skiplane::http::dashboard
