#include "server/http/connect/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "skiplane/v1/admin.pb.h"

namespace skiplane::http::connect {
namespace {

using ::testing::StartsWith;

const google::protobuf::MethodDescriptor* Unary() {
  return skiplane::v1::GetQueueRequest::descriptor()->file()->service(0)->FindMethodByName(
      "GetQueue");
}

Head WithField(std::string name, std::string value) {
  const Field field(std::move(name), std::move(value));
  return {"POST", "/x", {{"content-type", "application/json"}, field}};
}

TEST(Refusal, AGoodCallHasNone) {
  for (const auto& [name, value] : Fields{{"x", "y"},
                                          {"content-encoding", "gzip"},
                                          {"connect-protocol-version", "1"},
                                          {"connect-timeout-ms", "5"}}) {
    EXPECT_FALSE(CheckCall(Unary(), WithField(name, value)).has_value()) << name;
  }
}

TEST(Refusal, EachHasItsStatus) {
  const auto status_of = [](const std::string& name, const std::string& value) {
    return CheckCall(Unary(), WithField(name, value))->http_status;
  };
  EXPECT_EQ(status_of("content-encoding", "br"), 501);
  EXPECT_EQ(status_of("connect-protocol-version", "2"), 400);
  EXPECT_EQ(status_of("connect-timeout-ms", "x"), 400);
  EXPECT_EQ(CheckCall(nullptr, WithField("x", "y"))->http_status, 404);
  EXPECT_EQ(CheckCall(Unary(), {"GET", "/x", {}})->http_status, 405);
  EXPECT_EQ(CheckCall(Unary(), {"POST", "/x", {}})->http_status, 415);
}

TEST(Refusal, EachHasItsNameInTheMetrics) {
  const std::map<int, std::string> expected = {
      {400, "request"}, {403, "site"}, {404, "path"}, {405, "method"}, {408, "timeout"},
      {413, "size"}, {415, "content_type"}, {429, "no_room"}, {431, "size"}, {501, "encoding"}};
  for (const auto& [status, name] : expected) EXPECT_EQ(NameOf({status, "why"}), name);
  EXPECT_EQ(NameOf({400, "why", {}, true}), "body");
}

TEST(Refusal, EachReasonHasOneCode) {
  std::map<std::string, std::string> codes;
  for (const int status : {400, 403, 404, 405, 408, 413, 415, 429, 431, 501}) {
    const Response response = AnswerOf({status, "why"}, std::nullopt);
    EXPECT_EQ(response.status, status);
    const auto json = nlohmann::json::parse(response.body);
    const auto& info = json.at("details").at(0).at("debug");
    EXPECT_EQ(info.at("domain"), "skiplane.dev");
    const std::string code = json.at("code");
    EXPECT_EQ(codes.emplace(info.at("reason"), code).first->second, code) << status;
  }
  const std::map<std::string, std::string> expected = {
      {"INVALID_FIELD", "invalid_argument"},    {"ORIGIN_NOT_ALLOWED", "permission_denied"},
      {"NOT_SUPPORTED", "unimplemented"},       {"REQUEST_TIMEOUT", "deadline_exceeded"},
      {"REQUEST_TOO_LARGE", "invalid_argument"}, {"TOO_MANY_CALLS", "resource_exhausted"}};
  EXPECT_EQ(codes, expected);
}

TEST(Refusal, AStreamReadsItBehindAStatusOf200) {
  const Response response = AnswerOf({429, "why"}, Form::kProto);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/connect+proto");
  EXPECT_EQ(response.body[0], 2);
  EXPECT_THAT(response.body.substr(5), StartsWith(R"({"error":{"code":"resource_exhausted",)"));
}

}  // namespace
}  // namespace skiplane::http::connect
