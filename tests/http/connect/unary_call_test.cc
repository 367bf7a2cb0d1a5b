#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/connect/inner_service.h"

namespace skiplane::http::connect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(UnaryCall, AnAnswerCountsFromTheTimeThatItIsThere) {
  skiplane::v1::GetQueueResponse answer;
  answer.mutable_queue()->set_name("q");
  InnerService service(answer.SerializeAsString(), false);
  const auto exchange = std::make_shared<RecordedExchange>();
  CallUnary(*service.channel(), service.CallOf(exchange, "{}"));
  EXPECT_THAT(exchange->Await("answer"), ElementsAre("reserve", "answer"));
  EXPECT_EQ(exchange->answer().body, R"({"queue":{"name":"q"}})");
  service.AwaitEnd();
}

TEST(UnaryCall, WhoLeavesEndsTheInnerCall) {
  InnerService service("", true);
  const auto exchange = std::make_shared<RecordedExchange>();
  CallUnary(*service.channel(), service.CallOf(exchange, "{}"));
  exchange->Leave();
  EXPECT_TRUE(service.AwaitEnd());
  exchange->Await("answer");  // nobody is there for it
}

// gRPC ended the process at a call that began when the server behind had shut down.
TEST(UnaryCall, NoCallBeginsOnAClosedChannel) {
  InnerService service("", true);
  service.channel()->Close();
  const auto exchange = std::make_shared<RecordedExchange>();
  CallUnary(*service.channel(), service.CallOf(exchange, "{}"));
  EXPECT_THAT(exchange->Await("answer"), ElementsAre("answer"));
  EXPECT_EQ(exchange->answer().status, 503);
  EXPECT_THAT(exchange->answer().body, HasSubstr("BROKER_DRAINING"));
}

}  // namespace
}  // namespace skiplane::http::connect
