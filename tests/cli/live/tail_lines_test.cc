#include "client/cli/live/tail_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skiplane::cli {
namespace {

TEST(TailLinesTest, CountsAreToldWhenTheyChange) {
  CountLines lines;
  v1::QueueCounts counts;
  counts.set_ready_count(3);
  EXPECT_EQ(lines.Next(counts), "succeeded +0  failed +0  ready 3  leased 0  scheduled 0");
  EXPECT_EQ(lines.Next(counts), "");
  counts.set_ready_count(1);
  counts.set_succeeded_count(2);
  EXPECT_EQ(lines.Next(counts), "succeeded +2  failed +0  ready 1  leased 0  scheduled 0");
}

TEST(TailLinesTest, ErrorGroupsAreToldWhenTheyHaveNewFailures) {
  ErrorLines lines;
  v1::ErrorGroup group;
  group.set_fingerprint("f");
  group.set_type("TimeoutError");
  group.set_text("no\nanswer");
  EXPECT_EQ(lines.Next(group), "");
  lines.EndRound();
  EXPECT_EQ(lines.Next(group), "");
  group.mutable_last_seen_time()->set_seconds(5);
  EXPECT_EQ(lines.Next(group), "error TimeoutError (0 retrying, 0 failed): no answer");
  EXPECT_EQ(lines.Next(group), "");
  group.clear_text();  // as of lost leases
  group.mutable_last_seen_time()->set_seconds(6);
  EXPECT_EQ(lines.Next(group), "error TimeoutError (0 retrying, 0 failed)");
}

TEST(TailLinesTest, ATaskIsOneLine) {
  v1::Task task;
  task.set_task_id("t1");
  task.set_state(v1::TASK_STATE_READY);
  task.set_key("order\n17");
  EXPECT_EQ(TaskLine(task), "task t1 ready key order 17");
}

}  // namespace
}  // namespace skiplane::cli
