#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/connect/inner_service.h"

namespace skiplane::http::connect {
namespace {

using ::testing::ElementsAre;

TEST(UnaryCall, AnAnswerCountsFromTheTimeThatItIsThere) {
  skiplane::v1::GetQueueResponse answer;
  answer.mutable_queue()->set_name("q");
  InnerService service(answer.SerializeAsString(), false);
  const auto exchange = std::make_shared<RecordedExchange>();
  CallUnary(service.channel(), service.CallOf(exchange, "{}"));
  EXPECT_THAT(exchange->Await("answer"), ElementsAre("reserve", "answer"));
  EXPECT_EQ(exchange->answer().body, R"({"queue":{"name":"q"}})");
  service.AwaitEnd();
}

TEST(UnaryCall, WhoLeavesEndsTheInnerCall) {
  InnerService service("", true);
  const auto exchange = std::make_shared<RecordedExchange>();
  CallUnary(service.channel(), service.CallOf(exchange, "{}"));
  exchange->Leave();
  EXPECT_TRUE(service.AwaitEnd());
  exchange->Await("answer");  // nobody is there for it
}

}  // namespace
}  // namespace skiplane::http::connect
