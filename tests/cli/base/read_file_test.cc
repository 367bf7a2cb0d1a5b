#include "client/cli/base/read_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/match.h"
#include "client/cli/base/exit_code.h"

namespace skiplane::cli {
namespace {

std::string FileOf(size_t bytes) {
  const std::string path = testing::TempDir() + "/read_file_test";
  std::ofstream(path, std::ios::binary) << std::string(bytes, 'x');
  return path;
}

TEST(ReadFileTest, APayloadIsAtMostOneMebibyte) {
  const std::string most = FileOf(size_t{1} << 20);
  EXPECT_EQ(ReadPayload(most)->size(), size_t{1} << 20);
  const std::string path = FileOf((size_t{1} << 20) + 1);
  EXPECT_EQ(ExitCodeOf(ReadPayload(path).status()), kUsage);
  EXPECT_TRUE(absl::StrContains(ReadPayload(path).status().message(), "larger than 1 MiB"));
  EXPECT_EQ(ReadFile(path)->size(), (size_t{1} << 20) + 1);
}

TEST(ReadFileTest, AnEmptyFileIsEmpty) { EXPECT_EQ(*ReadPayload(FileOf(0)), ""); }

// A folder opens like a file: reading it ended the process with an exception.
TEST(ReadFileTest, WhatCannotBeReadIsAFailureOfThisMachine) {
  for (const std::string& path : {testing::TempDir(), testing::TempDir() + "/no/such"}) {
    EXPECT_EQ(ExitCodeOf(ReadFile(path).status()), kLocal) << path;
    EXPECT_EQ(ExitCodeOf(ReadPayload(path).status()), kLocal) << path;
  }
}

}  // namespace
}  // namespace skiplane::cli
