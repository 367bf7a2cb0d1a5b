#include "server/http/connect/gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "server/http/gzip.h"
#include "tests/http/connect/inner_service.h"

namespace skiplane::http::connect {
namespace {

using ::testing::HasSubstr;

constexpr size_t kBodyMax = 1 << 20;

class PackedBodyTest : public ::testing::Test {
 protected:
  Response AnswerTo(std::string body, const std::shared_ptr<RecordedExchange>& exchange) {
    Gateway gateway(service_.channel(),
                    {{"skiplane.v1.AdminService"}, Site({}, {}), Pages{}, kBodyMax});
    Request request{{"POST",
                     "/skiplane.v1.AdminService/GetQueue",
                     {{"content-type", "application/json"}, {"content-encoding", "gzip"}}},
                    std::move(body),
                    {"ipv4:127.0.0.1:1", ""}};
    gateway.Handle(std::move(request), service_.Held(exchange));
    exchange->Await("answer");
    return exchange->answer();
  }

  // Of `bytes` bytes once it is unpacked.
  static std::string Packed(size_t bytes) {
    std::string json = R"({"name":"q"})";
    json.resize(bytes, ' ');
    return Gzip(json);
  }

  InnerService service_{"", false};
};

TEST_F(PackedBodyTest, AllItsBytesAreHeldForTheCall) {
  const auto exchange = std::make_shared<RecordedExchange>();
  EXPECT_EQ(AnswerTo(Packed(300000), exchange).status, 200);
  EXPECT_GE(exchange->unpacked(), 300000U);
}

TEST_F(PackedBodyTest, WithoutRoomForItsBytesItIsRefused) {
  const auto exchange = std::make_shared<RecordedExchange>(100000);
  const Response answer = AnswerTo(Packed(300000), exchange);
  EXPECT_EQ(answer.status, 429);
  const auto json = nlohmann::json::parse(answer.body);
  EXPECT_EQ(json.at("code"), "resource_exhausted");
  EXPECT_EQ(json.at("details").at(0).at("debug").at("reason"), "TOO_MANY_CALLS");
  EXPECT_THAT(std::string(json.at("message")), HasSubstr("repeat this one"));
}

TEST_F(PackedBodyTest, WhatUnpacksToTooMuchIsRefused) {
  EXPECT_EQ(AnswerTo(Packed(kBodyMax + 1), std::make_shared<RecordedExchange>()).status, 413);
}

TEST_F(PackedBodyTest, WhatIsNotWholeIsRefused) {
  const std::string whole = Packed(1000);
  EXPECT_EQ(AnswerTo(whole.substr(1), std::make_shared<RecordedExchange>()).status, 400);
}

}  // namespace
}  // namespace skiplane::http::connect
