// How many calls and bytes a server lets in.
#include "server/rpc/call/in_flight.h"

#include "gtest/gtest.h"

namespace skiplane::rpc {
namespace {

using WaitFor = InFlight::WaitFor;

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

TEST(InFlightTest, LeasesThatWaitTakeNoRoomFromOtherCalls) {
  InFlight in_flight({.calls = 1, .bytes = 100, .parked = 1000, .parked_per_connection = 1000});
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(in_flight.Begin());
    ASSERT_TRUE(in_flight.Hold(0));
    ASSERT_EQ(in_flight.Park("peer", WaitFor::kTasks), InFlight::Parking::kGranted);
  }
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_TRUE(in_flight.Hold(1));
}

TEST(InFlightTest, OneConnectionMayNotTakeAllPlacesOfThoseThatWait) {
  InFlight in_flight({.parked = 3, .parked_per_connection = 2});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(in_flight.Begin());
  EXPECT_EQ(in_flight.Park("greedy", WaitFor::kTasks), InFlight::Parking::kGranted);
  EXPECT_EQ(in_flight.Park("greedy", WaitFor::kTasks), InFlight::Parking::kGranted);
  EXPECT_EQ(in_flight.Park("greedy", WaitFor::kTasks), InFlight::Parking::kConnectionIsFull);
  EXPECT_EQ(in_flight.Park("other", WaitFor::kTasks), InFlight::Parking::kGranted);
  EXPECT_EQ(in_flight.Park("third", WaitFor::kTasks), InFlight::Parking::kBrokerIsFull);
  in_flight.Unpark("greedy", WaitFor::kTasks);
  EXPECT_EQ(in_flight.Park("third", WaitFor::kTasks), InFlight::Parking::kGranted);
}

TEST(InFlightTest, WhoWaitsForTheEndOfATaskLeavesHalfOfThePlacesToWorkers) {
  InFlight in_flight({.parked = 4, .parked_per_connection = 4});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(in_flight.Begin());
  EXPECT_EQ(in_flight.Park("a", WaitFor::kEndOfTask), InFlight::Parking::kGranted);
  EXPECT_EQ(in_flight.Park("b", WaitFor::kEndOfTask), InFlight::Parking::kGranted);
  EXPECT_EQ(in_flight.Park("c", WaitFor::kEndOfTask), InFlight::Parking::kAwaitsAreFull);
  EXPECT_EQ(in_flight.Park("d", WaitFor::kTasks), InFlight::Parking::kGranted);
  in_flight.Unpark("a", WaitFor::kEndOfTask);
  EXPECT_EQ(in_flight.Park("c", WaitFor::kEndOfTask), InFlight::Parking::kGranted);
  EXPECT_EQ(in_flight.Park("d", WaitFor::kTasks), InFlight::Parking::kGranted);
  EXPECT_EQ(in_flight.Park("d", WaitFor::kTasks), InFlight::Parking::kBrokerIsFull);
}

TEST(InFlightTest, AReserveIsKeptForThoseWhoMayUseIt) {
  InFlight in_flight({.calls = 1, .bytes = 100, .reserved_calls = 1, .reserved_bytes = 50});
  ASSERT_TRUE(in_flight.Begin());
  ASSERT_TRUE(in_flight.Hold(100));
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_FALSE(in_flight.Hold(1));
  EXPECT_FALSE(in_flight.Hold(51, true));
  EXPECT_TRUE(in_flight.Hold(50, true));
  ASSERT_TRUE(in_flight.Begin());
  EXPECT_FALSE(in_flight.Hold(0, true));
}

TEST(InFlightTest, ADrainWaitsForThoseThatWait) {
  InFlight in_flight;
  ASSERT_TRUE(in_flight.Begin());
  ASSERT_EQ(in_flight.Park("peer", WaitFor::kTasks), InFlight::Parking::kGranted);
  EXPECT_FALSE(in_flight.WaitForNone(std::chrono::steady_clock::now()));
  in_flight.Unpark("peer", WaitFor::kTasks);
  in_flight.End(0);
  EXPECT_TRUE(in_flight.WaitForNone(std::chrono::steady_clock::now()));
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
