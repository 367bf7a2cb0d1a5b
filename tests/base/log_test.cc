#include "server/base/log.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace skiplane::base {
namespace {

using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    FlushLog();
    testing::internal::CaptureStderr();
  }
  ~LogTest() override {
    SetLogLevel(LogLevel::kInfo);
    SetLogFormat(LogFormat::kText);
  }

  static std::string Written() {
    FlushLog();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogTest, ALineHasUtcTimeWithMillisecondsLevelEventAndFields) {
  Log(LogLevel::kWarn, "lease_lost", {{"queue", "emails"}, {"tasks", "3"}});
  EXPECT_THAT(Written(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z "
                           "warn lease_lost queue=emails tasks=3\n"));
}

TEST_F(LogTest, ValuesThatCouldBeMisreadAreQuoted) {
  Log(LogLevel::kInfo, "e", {{"a", ""}, {"b", "two words"}, {"c", "x=y"}, {"d", "say \"hi\""}});
  EXPECT_THAT(Written(), EndsWith("e a=\"\" b=\"two words\" c=\"x=y\" d=\"say \\\"hi\\\"\"\n"));
}

TEST_F(LogTest, ControlCharactersCannotForgeASecondLineOrMoveTheCursor) {
  Log(LogLevel::kInfo, "e", {{"a", std::string("x\n2026 error\r\x1b[2J\0", 18)}});
  const std::string written = Written();
  EXPECT_THAT(written, EndsWith("a=\"x\\n2026 error\\r\\x1b[2J\\x00\"\n"));
  EXPECT_EQ(written.find('\n'), written.size() - 1);
}

TEST_F(LogTest, ABackslashIsEscapedSoThatEscapesAreUnambiguous) {
  Log(LogLevel::kInfo, "e", {{"a", "\\n"}});
  EXPECT_THAT(Written(), EndsWith("a=\"\\\\n\"\n"));
}

TEST_F(LogTest, AnApostropheIsReadAsItIs) {
  Log(LogLevel::kInfo, "e", {{"a", "PostgreSQL's \\'"}});
  EXPECT_THAT(Written(), EndsWith("a=\"PostgreSQL's \\\\'\"\n"));
}

TEST_F(LogTest, AsJsonALineIsAnObject) {
  Log(LogLevel::kInfo, "before");
  SetLogFormat(LogFormat::kJson);
  Log(LogLevel::kWarn, "lease_lost", {{"queue", "a \"b\"\n\xff"}, {"tasks", "3"}});
  const std::vector<std::string> lines = absl::StrSplit(Written(), '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0], EndsWith("Z info before"));
  auto line = nlohmann::json::parse(lines[1]);
  EXPECT_THAT(line["time"].get<std::string>(), MatchesRegex("[0-9T:.-]+Z"));
  line.erase("time");
  EXPECT_EQ(line, (nlohmann::json{{"level", "warn"},
                                  {"event", "lease_lost"},
                                  {"queue", "a \"b\"\n\xef\xbf\xbd"},
                                  {"tasks", "3"}}));
}

TEST_F(LogTest, BracesInValuesAreNotFormats) {
  Log(LogLevel::kInfo, "e", {{"a", "{}{0:d}"}});
  EXPECT_THAT(Written(), EndsWith("a={}{0:d}\n"));
}

TEST_F(LogTest, LinesBelowTheLevelAreDropped) {
  Log(LogLevel::kDebug, "unwanted");
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(LogTest, DebugLinesAppearWhenAskedFor) {
  SetLogLevel(LogLevel::kDebug);
  Log(LogLevel::kDebug, "wanted");
  EXPECT_THAT(Written(), EndsWith("Z debug wanted\n"));
}

TEST_F(LogTest, TheHighestLevelSilencesTheOthers) {
  SetLogLevel(LogLevel::kError);
  Log(LogLevel::kWarn, "unwanted");
  Log(LogLevel::kError, "wanted");
  EXPECT_THAT(Written(), EndsWith("Z error wanted\n"));
}

TEST_F(LogTest, LinesOfAThreadKeepTheirOrder) {
  constexpr int kLines = 1000;
  for (int i = 0; i < kLines; ++i) Log(LogLevel::kInfo, absl::StrCat("n", i));
  const std::string written = Written();
  const std::vector<std::string> lines = absl::StrSplit(written, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(kLines));
  for (int i = 0; i < kLines; ++i) {
    ASSERT_THAT(lines[static_cast<size_t>(i)], EndsWith(absl::StrCat(" n", i)));
  }
}

TEST(LogLevelTest, EveryLevelHasItsName) {
  const std::pair<const char*, LogLevel> names[] = {{"debug", LogLevel::kDebug},
                                                    {"info", LogLevel::kInfo},
                                                    {"warn", LogLevel::kWarn},
                                                    {"error", LogLevel::kError}};
  for (const auto& [text, expected] : names) {
    // Starts from another level than the expected one.
    LogLevel level = expected == LogLevel::kDebug ? LogLevel::kInfo : LogLevel::kDebug;
    EXPECT_TRUE(ParseLogLevel(text, &level)) << text;
    EXPECT_EQ(level, expected) << text;
  }
}

TEST(LogLevelTest, OtherTextsAreNoLevel) {
  LogLevel level = LogLevel::kWarn;
  for (const char* text : {"", "INFO", "warning", "info "}) {
    EXPECT_FALSE(ParseLogLevel(text, &level)) << text;
  }
  EXPECT_EQ(level, LogLevel::kWarn);
}

}  // namespace
}  // namespace skiplane::base
