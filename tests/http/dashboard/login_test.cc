#include "server/http/dashboard/login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"

namespace skiplane::http::dashboard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Login, TheTokenIsReadWithoutBlanksAroundIt) {
  EXPECT_EQ(ReadLogin(R"({"token":"skt_a"})").value(), "skt_a");
  EXPECT_EQ(ReadLogin(" {\n \"token\" : \"\\n skt_a \" } ").value(), "skt_a");
}

TEST(Login, WhatIsNoLoginIsRefusedAndNotRepeated) {
  const std::string too_long = absl::StrCat(R"({"token":"canary)", std::string(4000, 'c'), "\"}");
  for (const std::string& body :
       {std::string(), std::string("canary"), std::string("{}"), std::string("[\"canary\"]"),
        std::string("\"canary\""), std::string("null"), std::string(R"({"Token":"canary"})"),
        std::string(R"({"token":1})"), std::string(R"({"token":["canary"]})"),
        std::string(R"({"token":{"token":"canary"}})"), std::string(R"({"token":""})"),
        std::string(R"({"token":"canary","actor":"x"})"),
        std::string(R"({"token":"canary","token":"canary"})"),
        std::string(R"({"token":"canary canary"})"), std::string(R"({"token":"canary;"})"),
        std::string(R"({"token":"canary\u0000"})"), std::string(R"({"token":"canary"}})"),
        std::string(R"({"token":"canary"},)"), std::string(R"({"token":"canary",})"),
        std::string("{\"token\":\"canary\xff\"}"), std::string(1 << 14, '['), too_long}) {
    const absl::Status status = ReadLogin(body).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << body;
    EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD") << body;
    EXPECT_THAT(std::string(status.message()), HasSubstr("token")) << body;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("canary"))) << body;
  }
}

}  // namespace
}  // namespace skiplane::http::dashboard
