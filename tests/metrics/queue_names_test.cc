#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/metrics/metrics.h"
#include "tests/metrics/page.h"

namespace skiplane::metrics {
namespace {

class QueueNamesTest : public ::testing::Test {
 protected:
  // q0, q1, … as many as may have names, and five more; all of them show a ready task.
  static std::vector<std::string> TooMany() {
    std::vector<std::string> names;
    for (size_t i = 0; i < kQueuesMax + 5; ++i) names.push_back(absl::StrCat("q", i));
    return names;
  }
  void ShowAll() {
    for (const std::string& name : TooMany()) metrics_.SetQueue(name, {.ready = 1});
  }
  bool HasName(const std::string& queue) const {
    return Ready(queue).has_value();
  }
  std::optional<double> Ready(const std::string& queue) const {
    return ParsePage(metrics_.Text())
        .Value(absl::StrCat("skiplane_queue_tasks{queue=\"", queue, "\",state=\"ready\"}"));
  }

  Metrics metrics_{"1.2.3", "abc"};
};

TEST_F(QueueNamesTest, TheFirstOfTheRankingHaveNamesWhoeverCameFirst) {
  ShowAll();
  EXPECT_TRUE(HasName("q0"));
  EXPECT_FALSE(HasName("q1004"));
  std::vector<std::string> ranking = TooMany();
  std::reverse(ranking.begin(), ranking.end());
  metrics_.NameQueues(ranking);
  ShowAll();
  EXPECT_FALSE(HasName("q0"));
  EXPECT_FALSE(HasName("q4"));
  EXPECT_EQ(Ready("q5"), 1);
  EXPECT_EQ(Ready("q1004"), 1);
  EXPECT_EQ(Ready("__other__"), 5);
}

TEST_F(QueueNamesTest, APinnedQueueHasANameWhateverItsRank) {
  metrics_.PinQueues({"q1004", "q100?"});
  metrics_.NameQueues(TooMany());
  ShowAll();
  for (const char* const pinned : {"q1000", "q1003", "q1004"}) EXPECT_TRUE(HasName(pinned));
  EXPECT_TRUE(HasName("q994"));
  EXPECT_FALSE(HasName("q995"));
  EXPECT_EQ(Ready("__other__"), 5);
}

TEST_F(QueueNamesTest, PinsDoNotLiftTheBound) {
  metrics_.PinQueues({"*"});
  metrics_.NameQueues(TooMany());
  ShowAll();
  EXPECT_TRUE(HasName("q999"));
  EXPECT_FALSE(HasName("q1000"));
}

TEST_F(QueueNamesTest, AQueueOfALaterRankingGetsItsName) {
  metrics_.NameQueues({"a"});
  metrics_.SetQueue("b", {.ready = 7});
  EXPECT_EQ(Ready("__other__"), 7);
  metrics_.NameQueues({"b"});
  metrics_.SetQueue("b", {.ready = 8});
  EXPECT_EQ(Ready("b"), 8);
  EXPECT_EQ(Ready("__other__"), 0);
}

// What docs/METRICS.md promises of the page.
TEST_F(QueueNamesTest, APageOfAThousandBusyQueuesIsBounded) {
  for (const std::string& name : TooMany()) {
    metrics_.SetQueue(name, {.ready = 1, .stages = {}});
    metrics_.QueueWait(name, absl::Seconds(1));
    metrics_.RunTimes(name, {absl::Seconds(1)});
  }
  const std::string page = metrics_.Text();
  EXPECT_LE(ParsePage(page).CountOf("queue=\"q"), static_cast<int>(kQueuesMax) * 53);
  EXPECT_LE(page.size(), 4u << 20);
}

}  // namespace
}  // namespace skiplane::metrics
