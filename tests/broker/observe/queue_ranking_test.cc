#include "server/broker/observe/queue_ranking.h"

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

QueuePtr QueueOf(const std::string& name, std::vector<int64_t> lanes) {
  model::Queue queue;
  queue.name = name;
  queue.lanes = std::move(lanes);
  return std::make_shared<const model::Queue>(queue);
}

TEST(QueueRankingTest, QueuesThatWorkedThisWeekOrHaveTasksComeBeforeThoseThatWereOnceBusy) {
  store::Counts counts;
  counts[{1, 0}].succeeded = 1000000;
  counts[{2, 0}].succeeded = 5;
  counts[{3, 0}].scheduled = 1;
  EXPECT_THAT(RankQueues({QueueOf("once", {1}), QueueOf("now", {2}), QueueOf("waits", {3}),
                          QueueOf("never", {4})},
                         counts, {2}),
              ElementsAre("now", "waits", "once", "never"));
}

TEST(QueueRankingTest, WhatTheLanesAndStagesOfAQueueFinishedAddsUp) {
  store::Counts counts;
  counts[{1, 0}].succeeded = 3;
  counts[{2, 0}].failed = 3;
  counts[{3, 0}].succeeded = 5;
  EXPECT_THAT(RankQueues({QueueOf("one", {3}), QueueOf("two", {1, 2})}, counts, {}),
              ElementsAre("two", "one"));
}

TEST(QueueRankingTest, EqualsAreInTheOrderOfTheirNames) {
  EXPECT_THAT(RankQueues({QueueOf("c", {3}), QueueOf("a", {1}), QueueOf("b", {2})}, {}, {}),
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(RankQueues({}, {}, {}), IsEmpty());
}

}  // namespace
}  // namespace skiplane::broker
