#include "server/model/notification.h"

#include <limits>

#include "gtest/gtest.h"

namespace skiplane::model {
namespace {

Notification Tasks() {
  Notification notification;
  notification.origin = "abc";
  notification.lane = 7;
  notification.stage = 2;
  notification.priority = -5;
  notification.is_ready = true;
  notification.count = 40;
  notification.schedule_time = absl::FromUnixMicros(1234567);
  return notification;
}

TEST(NotificationTest, TasksComeBackAsTheyWere) {
  EXPECT_EQ(ParseNotification(FormatNotification(Tasks())), Tasks());
}

TEST(NotificationTest, TasksByTheirNumbersComeBackAsTheyWere) {
  for (const NotificationKind kind : {NotificationKind::kAwaited, NotificationKind::kEnded}) {
    Notification notification;
    notification.kind = kind;
    notification.origin = "abc";
    notification.lane = 7;
    notification.tasks = {1, 9007199254740991};
    EXPECT_EQ(ParseNotification(FormatNotification(notification)), notification);
  }
}

TEST(NotificationTest, ManyTasksAreSeveralThatPostgresTakesHoweverLargeTheirNumbersAre) {
  constexpr int64_t kLongest = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> tasks(1000, kLongest);
  size_t count = 0;
  for (const std::string& text : FormatTaskNotifications(
           NotificationKind::kAwaited, std::string(32, 'a'), kLongest, tasks)) {
    EXPECT_LT(text.size(), 8000u);
    count += ParseNotification(text)->tasks.size();
  }
  EXPECT_EQ(count, tasks.size());
}

TEST(NotificationTest, ManySessionsAreSeveralThatPostgresTakesAndComeBackAsTheyWere) {
  std::vector<SessionId> sessions(500);
  for (SessionId& session : sessions) session = NewSessionId();
  std::vector<SessionId> parsed;
  for (const std::string& text : FormatSessionNotifications(std::string(32, 'a'), sessions)) {
    EXPECT_LT(text.size(), 8000u);
    const std::optional<Notification> notification = ParseNotification(text);
    ASSERT_TRUE(notification.has_value());
    EXPECT_EQ(notification->kind, NotificationKind::kSessions);
    parsed.insert(parsed.end(), notification->sessions.begin(), notification->sessions.end());
  }
  EXPECT_EQ(parsed, sessions);
}

TEST(NotificationTest, WhatIsNoSessionIsIgnored) {
  for (const char* text :
       {"sessions a", "sessions a 12", "sessions a 0123456789abcdef0123456789abcdeg"}) {
    EXPECT_FALSE(ParseNotification(text).has_value()) << text;
  }
  EXPECT_TRUE(ParseNotification("sessions a 0123456789abcdef0123456789abcdef").has_value());
}

TEST(NotificationTest, OtherKindsComeBackAsTheyWere) {
  for (const NotificationKind kind :
       {NotificationKind::kQueues, NotificationKind::kBroker, NotificationKind::kWorkers}) {
    Notification notification;
    notification.kind = kind;
    EXPECT_EQ(ParseNotification(FormatNotification(notification)), notification);
  }
}

// Every role of the database may notify, and brokers add up the counts.
TEST(NotificationTest, ACountThatNoDatabaseHoldsIsIgnored) {
  EXPECT_TRUE(ParseNotification("tasks a 1 0 0 1 2147483647 1").has_value());
  for (const char* text : {"tasks a 1 0 0 1 2147483648 1", "tasks a 1 0 0 1 9223372036854775807 1",
                           "tasks a 1 0 0 1 -1 1"}) {
    EXPECT_FALSE(ParseNotification(text).has_value()) << text;
  }
}

TEST(NotificationTest, WhatIsNotANotificationIsIgnored) {
  for (const char* text :
       {"", "tasks", "tasks -", "tasks a 1 2 3", "tasks a x 0 0 1 1 1", "tasks a 1 0 99999 1 1 1",
        "tasks a 1 0 0 1 1 1 1", "ended a", "ended a 1", "ended a 1 x", "awaited a y 1",
        "queues a b", "newer thing"}) {
    EXPECT_FALSE(ParseNotification(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace skiplane::model
