#include "server/base/read_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/bearer_token.h"

namespace skiplane::base {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kToken[] = "skt_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
constexpr char kJwt[] = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4iLCJhdWQiOiJiIn0.c2lnbmF0dXJl";

TEST(ReadFileTest, TheWholeFileUpToItsMost) {
  const std::string path = absl::StrCat(testing::TempDir(), "read_file_", getpid());
  std::ofstream(path, std::ios::binary) << std::string("a\0b\n", 4);
  EXPECT_EQ(*ReadFile(path, 4), std::string("a\0b\n", 4));
  EXPECT_THAT(ReadFile(path, 3).status().message(), HasSubstr("is larger than 3 bytes"));
  std::filesystem::remove(path);
  EXPECT_THAT(ReadFile(path, 4).status().message(), HasSubstr(absl::StrCat("cannot read ", path)));
}

// Where a file is expected somebody gave the token itself, and the log had it.
TEST(ReadFileTest, ATokenInPlaceOfAPathIsNotRepeated) {
  for (const std::string path : {kToken, "/etc/skt_0123456789abcdefghijklmnopqrstuvwxyz", kJwt}) {
    const absl::StatusOr<std::string> read = ReadFile(path, 100);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(read.status().message(), HasSubstr("a bearer token"));
    EXPECT_THAT(read.status().message(), Not(HasSubstr(path.substr(10))));
  }
}

TEST(BearerTokenTest, ItsBeginningAloneIsNone) {
  EXPECT_TRUE(HoldsBearerToken(kToken));
  EXPECT_TRUE(HoldsBearerToken(kJwt));
  EXPECT_FALSE(HoldsBearerToken("/etc/skiplane/skt_tokens"));
  EXPECT_FALSE(HoldsBearerToken("/etc/skt_files/production/brokers/eu/central/one/tokens"));
  EXPECT_FALSE(HoldsBearerToken("moneyJournal,orders,payments,customers,refunds,moneyJobs"));
  EXPECT_FALSE(HoldsBearerToken("/var/backups/eyJournal.2026-11-28.tar.gz"));
  EXPECT_FALSE(HoldsBearerToken(""));
}

}  // namespace
}  // namespace skiplane::base
