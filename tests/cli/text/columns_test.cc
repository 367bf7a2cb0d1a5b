#include "client/cli/text/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/base/exit_code.h"
#include "skiplane/v1/queue.pb.h"

namespace skiplane::cli {
namespace {

const Columns kQueues{{"QUEUE", "queue"},
                      {"READY", "counts.ready_count"},
                      {"OLDEST READY", "oldest_ready_age"}};

v1::QueueSummary Queue(const std::string& name, int64_t ready, int64_t oldest_s) {
  v1::QueueSummary queue;
  queue.set_queue(name);
  queue.mutable_counts()->set_ready_count(ready);
  queue.mutable_oldest_ready_age()->set_seconds(oldest_s);
  return queue;
}

// The names of the queues when sorted so.
std::vector<std::string> SortedBy(const std::string& order) {
  FieldTable table({{"QUEUE", "queue"}}, *ParseOrder(kQueues, order));
  table.Add(Queue("b", 9, 100));
  table.Add(Queue("a", 10, 20));
  table.Add(Queue("c", 9, 3));
  std::vector<std::string> names;
  const std::string text = table.Sorted().Render(0);
  for (const char c : text.substr(text.find('\n'))) {
    if (c != '\n') names.emplace_back(1, c);
  }
  return names;
}

TEST(ColumnsTest, NumbersAndDurationsAreSortedBySize) {
  EXPECT_THAT(SortedBy("ready"), testing::ElementsAre("b", "c", "a"));
  EXPECT_THAT(SortedBy("ready:desc"), testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(SortedBy("oldest-ready:asc"), testing::ElementsAre("c", "a", "b"));
  EXPECT_THAT(SortedBy("QUEUE"), testing::ElementsAre("a", "b", "c"));
}

TEST(ColumnsTest, TheChosenOnesAreInTheOrderThatWasGiven) {
  const auto chosen = ChooseColumns(kQueues, "Oldest ready,queue");
  ASSERT_TRUE(chosen.ok());
  EXPECT_THAT(*chosen, testing::ElementsAre(kQueues[2], kQueues[0]));
}

TEST(ColumnsTest, AWrongNameIsAnsweredByTheRightOnes) {
  for (const absl::Status& status :
       {ParseOrder(kQueues, "redy").status(), ParseOrder(kQueues, "").status(),
        ChooseColumns(kQueues, "queue,").status()}) {
    EXPECT_EQ(ExitCodeOf(status), kUsage);
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr("There are: queue, ready, oldest-ready"));
  }
  EXPECT_THAT(std::string(ParseOrder(kQueues, "ready:down").status().message()),
              testing::HasSubstr("COLUMN:desc"));
}

}  // namespace
}  // namespace skiplane::cli
