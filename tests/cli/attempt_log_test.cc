// The line for each attempt, and what a program says of its progress.
#include "client/cli/work/attempt_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/cli/work/progress.h"

namespace skiplane::cli {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class AttemptLogTest : public testing::Test {
 protected:
  AttemptLogTest() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~AttemptLogTest() override { std::filesystem::remove_all(folder_); }

  std::string Path() const { return folder_ + "/log"; }

  std::string Text() const {
    std::ostringstream text;
    text << std::ifstream(Path()).rdbuf();
    return text.str();
  }

  static LeasedTask Task(const std::string& id, const std::string& key = "") {
    LeasedTask task;
    task.task_id = id;
    task.lease_token = "token-" + id;
    task.queue = "mail";
    task.key = key;
    task.attempt = 2;
    task.payload = "secret";
    return task;
  }

  std::string folder_ = testing::TempDir() + "/attempt-log-XXXXXX";
};

TEST_F(AttemptLogTest, ALineTellsOfOneAttemptAndNeverOfItsPayload) {
  auto log = *AttemptLog::Open(Path());
  const LeasedTask task = Task("1", "order 17\n");
  log->Began(task);
  log->Ran(task, {.exit_code = 75, .error_tail = "secret"});
  EXPECT_EQ(Text(), "") << "the broker was not told";
  log->Settled(task, AttemptEnd::kRetried);
  EXPECT_THAT(Text(), MatchesRegex("[0-9TZ:.-]+ task=1 queue=mail key=\"order 17\\\\n\" attempt=2 "
                                   "end=retried exit=75 seconds=[0-9.]+\n"));
  EXPECT_THAT(Text(), Not(HasSubstr("secret")));
}

TEST_F(AttemptLogTest, ALostOneIsToldWhenItsProgramHasEnded) {
  auto log = *AttemptLog::Open(Path());
  log->Began(Task("1"));
  log->Settled(Task("1"), AttemptEnd::kLost);
  EXPECT_EQ(Text(), "");
  log->Ran(Task("1"), {.signal = 15, .has_timed_out = true});
  EXPECT_THAT(Text(), HasSubstr("end=lost signal=15 timeout=true seconds="));
}

TEST_F(AttemptLogTest, OneThatIsLostBeforeItBeginsIsLostAndNotUnknown) {
  auto log = *AttemptLog::Open(Path());
  log->Settled(Task("1"), AttemptEnd::kLost);
  log->Began(Task("1"));
  EXPECT_EQ(Text(), "");
  log->Ran(Task("1"), {.signal = 15});
  EXPECT_THAT(Text(), HasSubstr("end=lost signal=15 seconds="));
}

TEST_F(AttemptLogTest, WhatTheBrokerCouldNotBeToldOfIsUnknown) {
  {
    auto log = *AttemptLog::Open(Path());
    log->Began(Task("1"));
    log->Ran(Task("1"), {});
    log->Settled(Task("2"), AttemptEnd::kReleased);  // it did not run
  }
  EXPECT_THAT(Text(), MatchesRegex("[^\n]+ task=1 [^\n]+ end=unknown exit=0 [^\n]+\n"));
}

TEST_F(AttemptLogTest, WhatIsUnknownIsCountedAlsoWithoutAFile) {
  auto log = *AttemptLog::Open("");
  for (const char* const id : {"1", "2", "3"}) log->Began(Task(id));
  for (const char* const id : {"1", "2"}) log->Ran(Task(id), {});
  EXPECT_EQ(log->unknown(), 3U);
  log->Settled(Task("1"), AttemptEnd::kDone);
  log->Settled(Task("3"), AttemptEnd::kLost);
  log->Ran(Task("3"), {.signal = 15});
  log->Settled(Task("4"), AttemptEnd::kReleased);  // it did not run
  EXPECT_EQ(log->unknown(), 1U);
}

TEST_F(AttemptLogTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(AttemptLog::Open("/no/such/folder/log").ok());
}

TEST(ProgressTest, ANumberAndAMessage) {
  ASSERT_TRUE(ParseProgress("0.25 page 3 of 12").has_value());
  EXPECT_EQ(ParseProgress("0.25 page 3 of 12")->fraction, 0.25);
  EXPECT_EQ(ParseProgress("0.25 page 3 of 12")->message, "page 3 of 12");
  EXPECT_EQ(ParseProgress(" 40%")->fraction, 0.4);
  for (const char* const wrong : {"", "half", "1.5", "-1", "101%", "nan", "%"}) {
    EXPECT_FALSE(ParseProgress(wrong).has_value()) << wrong;
  }
}

TEST(ProgressTest, TheLastWholeLineCounts) {
  ProgressLines lines;
  EXPECT_FALSE(lines.Add("10").has_value());
  EXPECT_EQ(lines.Add("%\n20%\nnonsense\n3")->fraction, 0.2);
  EXPECT_EQ(lines.Add("0%\n")->fraction, 0.3);
  EXPECT_EQ(lines.Add("1 " + std::string(100000, 'x') + "\n")->fraction, 1);
}

}  // namespace
}  // namespace skiplane::cli
