// What is known of a connection by its calls.
#include "server/rpc/call/call_tally.h"

#include <string>

#include <gtest/gtest.h>

namespace skiplane::rpc {
namespace {

TEST(CallTally, CallsOfAConnectionAddUp) {
  CallTally tally;
  EXPECT_EQ(tally.Find("ipv4:1.2.3.4:5"), nullptr);
  const auto first = tally.Begin("ipv4:1.2.3.4:5", 100);
  tally.Begin("ipv4:1.2.3.4:5", 20);
  tally.Begin("ipv4:1.2.3.4:6", 1);
  --first->calls;
  const auto found = tally.Find("ipv4:1.2.3.4:5");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->calls, 1);
  EXPECT_EQ(found->bytes, 120);
}

TEST(CallTally, AForgottenConnectionLivesAsLongAsItsCalls) {
  CallTally tally;
  const auto call = tally.Begin("ipv4:1.2.3.4:5", 100);
  tally.Forget("ipv4:1.2.3.4:5");
  EXPECT_EQ(tally.Find("ipv4:1.2.3.4:5"), nullptr);
  EXPECT_EQ(--call->calls, 0);
  EXPECT_EQ(tally.Begin("ipv4:1.2.3.4:5", 1)->bytes, 1) << "another connection";
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
