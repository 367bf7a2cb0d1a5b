// How many calls and bytes a server lets in.
#include "server/rpc/in_flight.h"

#include "gtest/gtest.h"

namespace skiplane::rpc {
namespace {

TEST(InFlightTest, BytesAreGrantedUpToTheLimitAndGivenBackAtTheEnd) {
  InFlight in_flight({.calls = 10, .bytes = 100});
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_TRUE(in_flight.Hold(60));
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_FALSE(in_flight.Hold(41));
  EXPECT_TRUE(in_flight.Hold(40));
  in_flight.End(60);
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_TRUE(in_flight.Hold(60));
}

TEST(InFlightTest, ALargeAnswerKeepsRequestsOutUntilItIsSent) {
  InFlight in_flight({.calls = 10, .bytes = 100});
  ASSERT_TRUE(in_flight.Begin());
  in_flight.Add(1000);
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_FALSE(in_flight.Hold(1));
  in_flight.End(1000);
  EXPECT_TRUE(in_flight.Hold(1));
}

TEST(InFlightTest, CallsBeyondTheLimitGetNoRoom) {
  InFlight in_flight({.calls = 2, .bytes = 100});
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_TRUE(in_flight.Hold(1));
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_TRUE(in_flight.Hold(1));
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_FALSE(in_flight.Hold(1));
}

TEST(InFlightTest, NoneIsLetInAfterTheEnd) {
  InFlight in_flight;
  ASSERT_TRUE(in_flight.Begin());
  in_flight.Close();
  EXPECT_FALSE(in_flight.Begin());
  EXPECT_FALSE(in_flight.WaitForNone(std::chrono::steady_clock::now()));
  in_flight.End(0);
  EXPECT_TRUE(in_flight.WaitForNone(std::chrono::steady_clock::now()));
}

}  // namespace
}  // namespace skiplane::rpc
