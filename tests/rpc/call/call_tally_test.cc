// What is known of a connection by its calls.
#include "server/rpc/call/call_tally.h"

#include <string>

#include <gtest/gtest.h>

namespace skiplane::rpc {
namespace {

TEST(CallTally, CallsOfAConnectionAddUp) {
  CallTally tally;
  EXPECT_EQ(tally.Of("ipv4:1.2.3.4:5").begun, 0);
  const auto first = tally.Begin("ipv4:1.2.3.4:5", 100);
  tally.Begin("ipv4:1.2.3.4:5", 20);
  tally.Begin("ipv4:1.2.3.4:6", 1);
  --first->calls;
  ++first->answered;
  const CallTally::Counts counts = tally.Of("ipv4:1.2.3.4:5");
  EXPECT_EQ(counts.under_way, 1);
  EXPECT_EQ(counts.begun, 2);
  EXPECT_EQ(counts.bytes, 120);
  EXPECT_EQ(counts.answered, 1);
}

TEST(CallTally, CallsThatWereGivenUpCountUntilTheyEndAlsoOfConnectionsThatAreGone) {
  CallTally tally;
  const auto call = tally.Begin("ipv4:1.2.3.4:5", 100);
  tally.GiveUp(*call);
  EXPECT_EQ(tally.Of("ipv4:1.2.3.4:5").given_up, 1);
  EXPECT_EQ(tally.given_up(), 1);
  tally.EndGivenUp();
  EXPECT_EQ(tally.given_up(), 0);
  EXPECT_EQ(tally.Of("ipv4:1.2.3.4:5").given_up, 1) << "so far";
}

TEST(CallTally, AConnectionThatNobodyEverSawOpenIsForgottenWithItsLastCall) {
  CallTally tally;
  auto call = tally.Begin("short", 100);
  tally.Begin("open", 100);
  const auto is_open = [](absl::string_view address) { return address == "open"; };
  for (int i = 0; i < 3; ++i) tally.Sweep(is_open);
  EXPECT_EQ(tally.size(), 2u) << "it has a call";
  call.reset();
  tally.Sweep(is_open);
  EXPECT_EQ(tally.size(), 1u);
  EXPECT_EQ(tally.Of("open").begun, 1);
}

TEST(CallTally, ANewConnectionIsNotForgottenBeforeItCanHaveBeenSeen) {
  CallTally tally;
  tally.Begin("new", 100);
  const auto is_open = [](absl::string_view) { return false; };
  tally.Sweep(is_open);
  EXPECT_EQ(tally.size(), 1u);
  tally.Sweep(is_open);
  EXPECT_EQ(tally.size(), 0u);
}

TEST(CallTally, AConnectionWithTooManyAbandonedCallsIsFullUntilTheyEnd) {
  CallTally tally;
  const auto connection = tally.Begin("ipv4:1.2.3.4:5", 1);
  for (int i = 0; i < CallTally::kAbandonedMax; ++i) {
    tally.Abandon(*tally.Begin("ipv4:1.2.3.4:5", 1));
  }
  EXPECT_FALSE(tally.IsFull(*connection));
  tally.Abandon(*connection);
  EXPECT_TRUE(tally.IsFull(*connection));
  EXPECT_EQ(connection->calls, 0);
  tally.EndAbandoned(*connection);
  EXPECT_FALSE(tally.IsFull(*connection));
}

TEST(CallTally, WhenAllConnectionsHaveTooManyThoseAreFullThatHaveSome) {
  CallTally tally;
  const auto few = tally.Begin("few", 1);
  const auto none = tally.Begin("none", 1);
  for (int i = 0; i <= CallTally::kAbandonedAlways; ++i) tally.Abandon(*tally.Begin("few", 1));
  EXPECT_FALSE(tally.IsFull(*few));
  for (int i = 0; i < CallTally::kAbandonedTogetherMax; ++i) {
    tally.Abandon(*tally.Begin("many " + std::to_string(i % 10), 1));
  }
  EXPECT_TRUE(tally.IsFull(*few));
  EXPECT_FALSE(tally.IsFull(*none));
}

}  // namespace
}  // namespace skiplane::rpc
