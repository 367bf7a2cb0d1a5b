#include "client/cli/options/queue_file.h"

#include <map>
#include <string>

#include "gmock/gmock.h"

namespace skiplane::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::Queue QueueOf(const std::string& name) {
  v1::Queue queue;
  queue.set_name(name);
  queue.set_lane_count(2);
  queue.set_etag("7");
  queue.mutable_settings()->mutable_retry()->set_max_attempts(10);
  queue.mutable_settings()->mutable_lease_duration()->set_seconds(30);
  queue.mutable_settings()->set_history_days(7);
  queue.mutable_settings()->set_keep_payloads(false);
  return queue;
}

std::vector<QueueStep> StepsOf(const std::string& text, const v1::Queue& known) {
  const auto entries = ReadQueueFile(text);
  EXPECT_TRUE(entries.ok()) << entries.status();
  const auto steps = CompareQueues(*entries, {{known.name(), known}});
  EXPECT_TRUE(steps.ok()) << steps.status();
  return *steps;
}

std::string RefusalOf(const std::string& text) {
  return std::string(ReadQueueFile(text).status().message());
}

TEST(QueueFileTest, WhatWasWrittenDiffersInNothing) {
  const v1::Queue queue = QueueOf("mail");
  for (const int indent : {-1, 2}) {
    const std::string text = WriteQueueFile({queue}, indent);
    EXPECT_THAT(text, HasSubstr("max_depth"));
    const auto steps = StepsOf(text, queue);
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_FALSE(steps[0].is_new);
    EXPECT_THAT(steps[0].paths, IsEmpty());
  }
}

TEST(QueueFileTest, OnlyWhatIsNamedAndDiffersChanges) {
  const auto steps = StepsOf(
      R"({"queues": [{"name": "mail", "settings": {"history_days": 8, "keep_payloads": false,
                      "retry": {"max_attempts": 3}, "lease_duration": "30.000s"}}]})",
      QueueOf("mail"));
  EXPECT_THAT(steps[0].paths, ElementsAre("history_days", "retry.max_attempts"));
  EXPECT_EQ(steps[0].etag, "7");
}

TEST(QueueFileTest, ALimitGoesByNull) {
  v1::Queue queue = QueueOf("mail");
  queue.mutable_settings()->set_max_depth(100);
  const std::string text = R"({"queues": [{"name": "mail", "settings": {"max_depth": null}}]})";
  EXPECT_THAT(StepsOf(text, queue)[0].paths, ElementsAre("max_depth"));
  EXPECT_THAT(StepsOf(text, QueueOf("mail"))[0].paths, IsEmpty());
}

TEST(QueueFileTest, AQueueThatIsMissingIsMade) {
  const auto steps = StepsOf(R"({"queues": [{"name": "new", "lane_count": 4}]})", QueueOf("mail"));
  EXPECT_TRUE(steps[0].is_new);
  EXPECT_EQ(steps[0].entry.lane_count, 4);
}

TEST(QueueFileTest, LanesAreFixed) {
  const auto entries = ReadQueueFile(R"({"queues": [{"name": "mail", "lane_count": 3}]})");
  const auto steps = CompareQueues(*entries, {{"mail", QueueOf("mail")}});
  EXPECT_THAT(std::string(steps.status().message()), HasSubstr("2 lanes"));
}

TEST(QueueFileTest, WhatIsNoSuchDocumentIsRefusedWithItsPlace) {
  for (const char* text : {"", "[]", "{}", R"({"queues": {}})", R"({"queues": [], "more": 1})",
                           "{\"queues\": [", "{\"queues\": [\"\xff\"]}"}) {
    EXPECT_THAT(RefusalOf(text), HasSubstr("queues")) << text;
  }
  EXPECT_THAT(RefusalOf(R"({"queues": [1]})"), HasSubstr("queues[0]: is no object"));
  EXPECT_THAT(RefusalOf(R"({"queues": [{"settings": {}}]})"), HasSubstr("has no name"));
  EXPECT_THAT(RefusalOf(R"({"queues": [{"name": "a", "lanes": 3}]})"), HasSubstr("\"lanes\""));
  EXPECT_THAT(RefusalOf(R"({"queues": [{"name": "a"}, {"name": "a"}]})"), HasSubstr("twice"));
  EXPECT_THAT(RefusalOf(R"({"queues": [{"name": "a", "settings": {"historyDays": 1}}]})"),
              HasSubstr("no setting \"historyDays\""));
  EXPECT_THAT(RefusalOf(R"({"queues": [{"name": "a", "settings": {"history_days": "x"}}]})"),
              HasSubstr("queues[0].settings"));
}

}  // namespace
}  // namespace skiplane::cli
