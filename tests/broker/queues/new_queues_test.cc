// How many queues may be made in a minute, and by whom.
#include "server/broker/queues/new_queues.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/reason.h"

namespace skiplane::broker {
namespace {

using std::chrono::seconds;

constexpr base::SteadyTime kStart{};

class NewQueuesTest : public ::testing::Test {
 protected:
  int Made(const std::string& principal, int wanted, base::SteadyTime now = kStart) {
    int made = 0;
    while (made < wanted && new_queues_.Take(principal, now).ok()) ++made;
    return made;
  }

  NewQueues new_queues_{{.per_minute = 60, .principal_share = 50}, kStart};
};

TEST_F(NewQueuesTest, OnePrincipalLeavesOthersTheirPart) {
  EXPECT_EQ(Made("token:greedy", 100), 30);
  const absl::Status refused = new_queues_.Take("token:greedy", kStart);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(base::ReasonOf(refused), "TOO_MANY_NEW_QUEUES");
  EXPECT_EQ(base::RetryDelayOf(refused), absl::Seconds(2));
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("50 % of 60"));
  EXPECT_EQ(Made("token:other", 100), 30);
}

TEST_F(NewQueuesTest, AllTogetherHaveALimit) {
  EXPECT_EQ(Made("", 100), 60);
  EXPECT_EQ(base::RetryDelayOf(new_queues_.Take("token:other", kStart)), absl::Seconds(1));
  EXPECT_EQ(Made("token:other", 100, kStart + seconds(60)), 30);
}

TEST_F(NewQueuesTest, WhatWasNotMadeTakesNothing) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(new_queues_.Take("token:a", kStart).ok());
    new_queues_.GiveBack("token:a");
  }
  EXPECT_EQ(Made("token:a", 100), 30);
}

TEST_F(NewQueuesTest, WhatAllAreRefusedIsNotCountedForOne) {
  EXPECT_EQ(Made("", 100), 60);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(Made("token:a", 1), 0);
  EXPECT_EQ(Made("token:a", 100, kStart + seconds(10)), 10);
}

}  // namespace
}  // namespace skiplane::broker
