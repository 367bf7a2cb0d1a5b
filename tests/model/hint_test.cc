#include "server/model/hint.h"

#include "gtest/gtest.h"

namespace skiplane::model {
namespace {

Hint Tasks() {
  Hint hint;
  hint.origin = "abc";
  hint.lane = 7;
  hint.stage = 2;
  hint.priority = -5;
  hint.is_ready = true;
  hint.count = 40;
  hint.schedule_time = absl::FromUnixMicros(1234567);
  return hint;
}

TEST(HintTest, TasksComeBackAsTheyWere) {
  EXPECT_EQ(ParseHint(FormatHint(Tasks())), Tasks());
}

TEST(HintTest, OtherKindsComeBackAsTheyWere) {
  for (const HintKind kind : {HintKind::kQueues, HintKind::kBroker}) {
    Hint hint;
    hint.kind = kind;
    EXPECT_EQ(ParseHint(FormatHint(hint)), hint);
  }
}

TEST(HintTest, WhatIsNotAHintIsIgnored) {
  for (const char* text : {"", "tasks", "tasks -", "tasks a 1 2 3", "tasks a x 0 0 1 1 1",
                           "tasks a 1 0 99999 1 1 1", "tasks a 1 0 0 1 1 1 1", "queues a b",
                           "newer thing"}) {
    EXPECT_FALSE(ParseHint(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace skiplane::model
