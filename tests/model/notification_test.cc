#include "server/model/notification.h"

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

TEST(NotificationTest, OtherKindsComeBackAsTheyWere) {
  for (const NotificationKind kind : {NotificationKind::kQueues, NotificationKind::kBroker}) {
    Notification notification;
    notification.kind = kind;
    EXPECT_EQ(ParseNotification(FormatNotification(notification)), notification);
  }
}

TEST(NotificationTest, WhatIsNotANotificationIsIgnored) {
  for (const char* text :
       {"", "tasks", "tasks -", "tasks a 1 2 3", "tasks a x 0 0 1 1 1", "tasks a 1 0 99999 1 1 1",
        "tasks a 1 0 0 1 1 1 1", "queues a b", "newer thing"}) {
    EXPECT_FALSE(ParseNotification(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace skiplane::model
