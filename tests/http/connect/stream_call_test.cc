#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/connect/envelope.h"
#include "tests/http/connect/inner_service.h"

namespace skiplane::http::connect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StreamCall, WhoLeavesEndsTheInnerCall) {
  InnerService service("", true);
  const auto exchange = std::make_shared<RecordedExchange>();
  CallStream(*service.channel(), service.CallOf(exchange, Envelope(kPlain, "{}")));
  // The message is on its way to a caller that takes nothing.
  exchange->Await("send");
  exchange->Leave();
  EXPECT_TRUE(service.AwaitEnd());
  // And nothing of the call is left behind.
  EXPECT_THAT(exchange->Await("end"), ElementsAre("begin", "send", "send", "end"));
}

TEST(StreamCall, AMessageCountsFromTheTimeThatItIsThere) {
  skiplane::v1::GetQueueResponse answer;
  answer.mutable_queue()->set_name("q");
  InnerService service(answer.SerializeAsString(), true);
  const auto exchange = std::make_shared<RecordedExchange>();
  CallStream(*service.channel(), service.CallOf(exchange, Envelope(kPlain, "{}")));
  EXPECT_THAT(exchange->Await("send"), ElementsAre("reserve", "begin", "send"));
  exchange->Leave();
  EXPECT_TRUE(service.AwaitEnd());
  exchange->Await("end");
}

TEST(StreamCall, NoCallBeginsOnAClosedChannel) {
  InnerService service("", true);
  service.channel()->Close();
  const auto exchange = std::make_shared<RecordedExchange>();
  CallStream(*service.channel(), service.CallOf(exchange, Envelope(kPlain, "{}")));
  EXPECT_THAT(exchange->Await("answer"), ElementsAre("answer"));
  EXPECT_THAT(exchange->answer().body, HasSubstr("BROKER_DRAINING"));
}

}  // namespace
}  // namespace skiplane::http::connect
