#include "client/cli/work/task_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skiplane::cli {
namespace {

using testing::Contains;
using testing::Not;

TEST(TaskProgramTest, TheEnvironmentTellsOfTheTask) {
  LeasedTask task;
  task.task_id = "t1";
  task.queue = "mail";
  task.stage = "send";
  task.attempt = 3;
  task.headers["Trace-Parent"] = "00-1";
  const auto environment =
      EnvironmentOf(task, {"HOME=/h", "SKIPLANE_QUEUE=old", "SKIPLANE_HEADER_OLD=1"});
  for (const char* const entry : {"HOME=/h", "SKIPLANE_TASK_ID=t1", "SKIPLANE_QUEUE=mail",
                                  "SKIPLANE_STAGE=send", "SKIPLANE_ATTEMPT=3", "SKIPLANE_KEY=",
                                  "SKIPLANE_HEADER_TRACE_PARENT=00-1"}) {
    EXPECT_THAT(environment, Contains(entry));
  }
  EXPECT_THAT(environment, Not(Contains("SKIPLANE_QUEUE=old")));
  EXPECT_THAT(environment, Not(Contains("SKIPLANE_HEADER_OLD=1")));
}

TEST(TaskProgramTest, TheEnvironmentTellsWhereEarlierAttemptsEnded) {
  const std::vector<std::string> ours{"SKIPLANE_LAST_ERROR=ours", "SKIPLANE_LAST_PROGRESS=0.9"};
  for (const char* const entry : {"SKIPLANE_LAST_ERROR_TYPE=", "SKIPLANE_LAST_ERROR=",
                                  "SKIPLANE_LAST_PROGRESS=", "SKIPLANE_LAST_PROGRESS_MESSAGE="}) {
    EXPECT_THAT(EnvironmentOf({}, ours), Contains(entry)) << "of a first attempt";
  }
  LeasedTask task;
  task.last_error = TaskError{.type = "exit 75", .text = "no disk"};
  task.last_progress = TaskProgress{.fraction = 0.4, .message = "page 40"};
  for (const char* const entry : {"SKIPLANE_LAST_ERROR_TYPE=exit 75", "SKIPLANE_LAST_ERROR=no disk",
                                  "SKIPLANE_LAST_PROGRESS=0.4",
                                  "SKIPLANE_LAST_PROGRESS_MESSAGE=page 40"}) {
    EXPECT_THAT(EnvironmentOf(task, ours), Contains(entry));
  }
  EXPECT_THAT(EnvironmentOf(task, ours), Not(Contains("SKIPLANE_LAST_ERROR=ours")));
}

TEST(TaskProgramTest, TheExitCodeDecides) {
  const WorkRules rules{.fail_codes = {65, 100}};
  EXPECT_EQ(ResultOf({.exit_code = 0}, rules).kind(), Result::Kind::kDone);
  EXPECT_EQ(ResultOf({.exit_code = 75}, rules).kind(), Result::Kind::kRetry);
  EXPECT_EQ(ResultOf({.exit_code = 1}, rules).kind(), Result::Kind::kRetry);
  EXPECT_EQ(ResultOf({.exit_code = 100}, rules).kind(), Result::Kind::kFail);
}

TEST(TaskProgramTest, TheErrorIsTheCodeAndTheEndOfStandardError) {
  const Result exit = ResultOf({.exit_code = 2, .error_tail = "no disk"}, {});
  EXPECT_EQ(exit.error().type, "exit 2");
  EXPECT_EQ(exit.error().text, "no disk");
  EXPECT_EQ(ResultOf({.signal = 9}, {}).error().type, "signal 9");
  EXPECT_EQ(ResultOf({.signal = 9}, {}).kind(), Result::Kind::kRetry);
}

TEST(TaskProgramTest, WhatTookTooLongHasFailedHoweverItEnded) {
  const WorkRules rules{.timeout = absl::Seconds(90)};
  const Result late = ResultOf({.has_timed_out = true, .error_tail = "at 99 %"}, rules);
  EXPECT_EQ(late.kind(), Result::Kind::kRetry);
  EXPECT_EQ(late.error().type, "timeout");
  EXPECT_EQ(late.error().text, "it ran longer than --timeout 1m30s and was stopped\nat 99 %");
}

TEST(TaskProgramTest, TheOutputIsTheResultIfThatIsAskedFor) {
  EXPECT_EQ(ResultOf({.output = "42"}, {.keeps_result = true}).output(), "42");
  EXPECT_EQ(ResultOf({.output = "42"}, {}).output(), "");
  const Result large =
      ResultOf({.output = std::string(kOutputBytesMax + 1, 'x')}, {.keeps_result = true});
  EXPECT_EQ(large.kind(), Result::Kind::kFail);
}

}  // namespace
}  // namespace skiplane::cli
