#include "server/broker/observe/summary_log.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kMany = 1 << 20;

class SummaryLogTest : public ::testing::Test {
 protected:
  void Read(const std::vector<std::pair<std::string, int>>& queues) {
    log_.BeginRead();
    for (const auto& [name, ready] : queues) {
      std::vector<QueueSummary> part(1);
      part[0].counted.queue.name = name;
      part[0].counted.counts.ready = ready;
      log_.Take(std::move(part));
    }
    log_.EndRead();
  }

  QueueChanges Next(SummaryLog::Reader& reader, int64_t bytes_max = kMany) {
    return log_.Next(
        &reader, [this](const std::string& name) { return !hidden_.contains(name); }, bytes_max);
  }

  static std::vector<std::string> Names(const QueueChanges& changes) {
    std::vector<std::string> names;
    for (const SummaryPtr& summary : changes.changed) names.push_back(summary->counted.queue.name);
    return names;
  }

  SummaryLog log_;
  std::set<std::string> hidden_;
  SummaryLog::Reader one_, slow_;
};

TEST_F(SummaryLogTest, FirstAllIsToldThenWhatChanged) {
  Read({{"a", 0}, {"b", 0}, {"c", 0}});
  EXPECT_THAT(Names(Next(one_)), ElementsAre("a", "b", "c"));
  Read({{"a", 0}, {"b", 0}, {"c", 0}});
  EXPECT_THAT(Names(Next(one_)), IsEmpty());
  Read({{"a", 0}, {"b", 7}, {"c", 0}});
  const QueueChanges changes = Next(one_);
  EXPECT_THAT(Names(changes), ElementsAre("b"));
  EXPECT_EQ(changes.changed[0]->counted.counts.ready, 7);
  EXPECT_FALSE(changes.has_more);
}

TEST_F(SummaryLogTest, ASlowReaderGetsTheLatestOfEachQueueOnce) {
  Read({{"a", 0}, {"b", 0}});
  Next(slow_);
  for (int i = 1; i < 100; ++i) Read({{"a", i}, {"b", i % 2}, {"c", 0}});
  Read({{"a", 100}, {"c", 0}});
  const QueueChanges changes = Next(slow_);
  EXPECT_THAT(Names(changes), ElementsAre("a", "c"));
  EXPECT_EQ(changes.changed[0]->counted.counts.ready, 100);
  EXPECT_THAT(changes.removed, ElementsAre("b"));
}

TEST_F(SummaryLogTest, AQueueThatCameAndWentMeanwhileIsNotTold) {
  Read({{"a", 0}});
  Next(slow_);
  Read({{"a", 0}, {"brief", 0}});
  Read({{"a", 0}});
  const QueueChanges changes = Next(slow_);
  EXPECT_THAT(Names(changes), IsEmpty());
  EXPECT_THAT(changes.removed, IsEmpty());
}

TEST_F(SummaryLogTest, AReadThatFailedRemovesNothing) {
  Read({{"a", 0}, {"b", 0}});
  Next(one_);
  log_.BeginRead();
  Read({{"a", 0}, {"b", 0}});
  EXPECT_THAT(Next(one_).removed, IsEmpty());
}

TEST_F(SummaryLogTest, WhatIsTooMuchForOneMessageComesInParts) {
  Read({{"a", 0}, {"b", 0}, {"c", 0}});
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    const QueueChanges part = Next(one_, 1);
    EXPECT_EQ(part.has_more, i < 2);
    EXPECT_THAT(part.changed, SizeIs(1));
    names.push_back(Names(part).at(0));
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  Read({});
  EXPECT_TRUE(Next(one_, 1).has_more);
}

TEST_F(SummaryLogTest, WhatOneMaySeeNoMoreIsRemovedForIt) {
  Read({{"a", 0}, {"b", 0}, {"c", 0}});
  hidden_ = {"c"};
  EXPECT_THAT(Names(Next(one_)), ElementsAre("a", "b"));
  hidden_ = {"b"};
  one_.seen = 0;  // as when the rules changed
  const QueueChanges changes = Next(one_);
  EXPECT_THAT(changes.removed, ElementsAre("b"));
  EXPECT_THAT(Names(changes), ElementsAre("a", "c"));
  Read({{"a", 0}, {"c", 0}});
  EXPECT_THAT(Next(one_).removed, IsEmpty());  // that it is gone tells nothing new
}

TEST_F(SummaryLogTest, AQueueThatIsForgottenLeavesNothingToTheNextOne) {
  Read({{"a", 0}, {"b", 0}});
  Next(one_);
  Read({{"a", 0}});
  EXPECT_THAT(Next(one_).removed, ElementsAre("b"));
  log_.Forget(one_.seen);
  EXPECT_FALSE(log_.Has("b"));
  hidden_ = {"new"};
  Read({{"a", 0}, {"new", 0}});
  Read({{"a", 0}});
  const QueueChanges changes = Next(one_);
  EXPECT_THAT(changes.removed, IsEmpty());  // it was never told of it
  EXPECT_THAT(Names(changes), IsEmpty());
}

TEST_F(SummaryLogTest, AQueueIsNotForgottenBeforeAllAreTold) {
  Read({{"a", 0}, {"b", 0}});
  Next(one_), Next(slow_);
  Read({{"a", 0}});
  Next(one_);
  log_.Forget(slow_.seen);
  EXPECT_THAT(Next(slow_).removed, ElementsAre("b"));
}

}  // namespace
}  // namespace skiplane::broker
