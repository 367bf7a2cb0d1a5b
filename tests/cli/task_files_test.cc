// The files of an attempt: what a program gets in them and leaves in them.
#include "client/cli/work/task_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/cli/work/task_program.h"

namespace skiplane::cli {
namespace {

using testing::HasSubstr;

class TaskFilesTest : public testing::Test {
 protected:
  TaskFilesTest() : scratch_(*Scratch::Make()) {
    task_.queue = "mail";
    task_.payload = std::string("a\0b", 3);
    task_.content_type = "text/x";
    task_.headers["h"] = "1";
  }

  TaskFiles Make(const FileRules& rules) const {
    auto files = TaskFiles::Make(scratch_, task_, rules);
    EXPECT_TRUE(files.ok()) << files.status();
    return *std::move(files);
  }

  // The path that the variable names.
  static std::string PathIn(const TaskFiles& files, const std::string& variable) {
    std::vector<std::string> environment;
    files.AddTo(&environment);
    for (const std::string& entry : environment) {
      if (entry.starts_with(variable + "=")) return entry.substr(variable.size() + 1);
    }
    return "";
  }

  static void Put(const TaskFiles& files, const std::string& variable, const std::string& text) {
    std::ofstream(PathIn(files, variable), std::ios::binary) << text;
  }

  std::string ErrorOf(const std::string& follow_ups) const {
    const TaskFiles files = Make({.output = true});
    Put(files, "SKIPLANE_FOLLOW_UPS_FILE", follow_ups);
    return std::string(files.ReadMore(task_).status().message());
  }

  LeasedTask task_;
  const Scratch scratch_;
};

TEST_F(TaskFilesTest, ThePayloadIsAFileThatOnlyItsUserReadsAndThatGoes) {
  std::string path;
  {
    const TaskFiles files = Make({.payload = true});
    path = PathIn(files, "SKIPLANE_PAYLOAD_FILE");
    struct stat found {};
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    ASSERT_EQ(stat(std::filesystem::path(path).parent_path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0700U);
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    EXPECT_EQ(content.str(), task_.payload);
    EXPECT_EQ(files.Arguments({"cat", "--in={}", "{}", "x"}),
              (std::vector<std::string>{"cat", "--in=" + path, path, "x"}));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

TEST_F(TaskFilesTest, AFolderThatACleanerTookIsMadeAnewForItsUserAlone) {
  std::filesystem::remove(scratch_.path());
  const TaskFiles files = Make({.payload = true});
  EXPECT_TRUE(std::filesystem::exists(PathIn(files, "SKIPLANE_PAYLOAD_FILE")));
  struct stat found {};
  ASSERT_EQ(stat(scratch_.path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
}

TEST_F(TaskFilesTest, WithoutRulesArgumentsAreTakenAsTheyAre) {
  const TaskFiles files = Make({});
  EXPECT_EQ(files.Arguments({"jq", "{}"}), (std::vector<std::string>{"jq", "{}"}));
  EXPECT_EQ(files.progress_path(), "");
  EXPECT_TRUE(files.ReadMore(task_).ok());
}

TEST_F(TaskFilesTest, AProgramThatWritesNothingWantsNothingMore) {
  const auto more = Make({.output = true}).ReadMore(task_);
  ASSERT_TRUE(more.ok());
  EXPECT_TRUE(more->follow_ups.empty());
  EXPECT_FALSE(more->next_payload.has_value());
}

TEST_F(TaskFilesTest, FollowUpsAreJsonLinesAndTheNextPayloadIsBytes) {
  const TaskFiles files = Make({.output = true});
  Put(files, "SKIPLANE_FOLLOW_UPS_FILE",
      "{\"queue\": \"pages\", \"payload\": {\"n\": 1}, \"key\": \"k\", \"delay\": \"5m\","
      " \"headers\": {\"x\": \"y\"}, \"priority\": 3}\n\n{\"payload\": \"again\"}\n");
  Put(files, "SKIPLANE_NEXT_PAYLOAD_FILE", std::string("\0\xff", 2));
  const auto more = files.ReadMore(task_);
  ASSERT_TRUE(more.ok()) << more.status();
  ASSERT_EQ(more->follow_ups.size(), 2u);
  const NewTask& first = more->follow_ups[0];
  EXPECT_EQ(first.queue, "pages");
  EXPECT_EQ(first.payload, "{\"n\":1}");
  EXPECT_EQ(first.key, "k");
  EXPECT_EQ(first.delay, absl::Minutes(5));
  EXPECT_EQ(first.headers.at("x"), "y");
  EXPECT_EQ(first.priority, 3);
  EXPECT_EQ(more->follow_ups[1].queue, "mail") << "its own, if none is named";
  ASSERT_TRUE(more->next_payload.has_value());
  EXPECT_EQ(more->next_payload->payload, std::string("\0\xff", 2));
  EXPECT_EQ(more->next_payload->content_type, "text/x");
  EXPECT_EQ(more->next_payload->headers, task_.headers);
}

TEST_F(TaskFilesTest, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(ErrorOf("{\"payload\": \"x\"}\nhello\n"),
            "SKIPLANE_FOLLOW_UPS_FILE, line 2: not a JSON object");
  EXPECT_THAT(ErrorOf("{\"colour\": 1}\n"), HasSubstr("line 1: tasks have no 'colour'"));
  EXPECT_THAT(ErrorOf("{\"priority\": \"high\"}\n"), HasSubstr("line 1: priority: 'high' is not"));
  EXPECT_THAT(ErrorOf("{\"key\": \"k\", \"key_policy\": \"reject\"}\n"),
              HasSubstr("line 1: key_policy: "));
  std::string many;
  for (int i = 0; i <= 100; ++i) many += "{}\n";
  EXPECT_THAT(ErrorOf(many), HasSubstr("line 101: more than 100 tasks"));
}

TEST_F(TaskFilesTest, ARunWithWrongFilesHasFailedAndRunsAgain) {
  const Result result = WithMore(Result::Done("out"), absl::InternalError("line 2: no"), "tail");
  EXPECT_EQ(result.kind(), Result::Kind::kRetry);
  EXPECT_EQ(result.error().type, "bad output file");
  EXPECT_EQ(result.error().text, "line 2: no\ntail");
  EXPECT_EQ(WithMore(Result::Done("out"), AckMore{.finish = true}, "").output(), "out");
}

}  // namespace
}  // namespace skiplane::cli
