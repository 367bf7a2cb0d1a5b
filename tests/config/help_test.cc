#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/config/world.h"

namespace skiplane::config {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kFlags[] = {
    "listen",           "metrics-listen", "ready-file",              "database",
    "database-file",    "embedded",       "pg-bindir",               "database-connections",
    "no-migrate",       "tls-cert",       "allow-unsafe-durability", "tls-key",
    "tls-client-ca",    "reflection",     "auto-create-queues",      "max-waiting-calls",
    "drain-timeout",    "log-level",      "max-connections",         "log-format",
    "max-waiting-calls-per-connection", "max-new-queues-per-minute", "principal-share",
    "address-share", "metrics-queue", "http-listen", "http-host",
    "http-origin",      "tls-client-certificate", "token-file", "jwt-keys", "jwt-issuer",
    "jwt-audience",     "jwt-algorithm",  "jwt-groups-claim", "rules-file", "open-access",
    "no-hand-off",      "dashboard"};

bool IsLineOfFlag(absl::string_view line, absl::string_view flag) {
  return absl::StartsWith(line, absl::StrCat("  --", flag, " "));
}

class HelpTest : public World {
 protected:
  static std::vector<std::string> Lines() { return absl::StrSplit(Ended({"--help"}).text, '\n'); }
};

TEST_F(HelpTest, HelpIsASuccessAndNeedsNothingElse) {
  EXPECT_EQ(Ended({"--help"}).code, 0);
  EXPECT_EQ(Ended({"-h"}).text, Ended({"--help"}).text);
}

TEST_F(HelpTest, ASubcommandShowsTheSameHelp) {
  EXPECT_EQ(Ended({"serve", "--help"}).text, Ended({"--help"}).text);
  EXPECT_THAT(Ended({"migrate", "--help"}).text, StartsWith("skiplaned migrate [--dry-run]"));
  EXPECT_THAT(Ended({"dump", "--help"}).text, StartsWith("skiplaned dump FILE"));
  EXPECT_THAT(Ended({"restore", "--help"}).text, StartsWith("skiplaned restore FILE"));
  EXPECT_THAT(Ended({"doctor", "--help"}).text, StartsWith("skiplaned doctor FLAGS"));
  EXPECT_THAT(Ended({"make-token", "--help"}).text, StartsWith("skiplaned make-token NAME [GROUP"));
  EXPECT_THAT(Ended({"check-config", "--help"}).text, StartsWith("skiplaned check-config FLAGS"));
}

TEST_F(HelpTest, EveryFlagIsShownWithItsVariable) {
  for (const std::string flag : kFlags) {
    const std::string variable =
        "SKIPLANE_" + absl::AsciiStrToUpper(absl::StrReplaceAll(flag, {{"-", "_"}}));
    int shown = 0;
    for (const std::string& line : Lines()) {
      shown += IsLineOfFlag(line, flag) && absl::StrContains(line, variable) ? 1 : 0;
    }
    EXPECT_EQ(shown, 1) << flag;
  }
}

TEST_F(HelpTest, EveryFlagIsExplainedByASentence) {
  const std::vector<std::string> lines = Lines();
  int flags = 0;
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    if (!absl::StartsWith(lines[i], "  --") || !absl::StrContains(lines[i], "SKIPLANE_")) continue;
    size_t last = i + 1;
    while (absl::StartsWith(lines[last + 1], "      ")) ++last;
    EXPECT_THAT(lines[last], ::testing::EndsWith(".")) << lines[i];
    ++flags;
  }
  EXPECT_EQ(flags, std::ssize(kFlags));
}

TEST_F(HelpTest, NoLineIsTooLongForATerminal) {
  for (const std::string& line : Lines()) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(HelpTest, SignalsAreExplained) {
  for (const char* shown : {"SIGTERM", "SIGINT", "SIGHUP"}) {
    EXPECT_THAT(Ended({"--help"}).text, HasSubstr(shown));
  }
}

TEST_F(HelpTest, DefaultsAreShown) {
  const std::string text = Ended({"--help"}).text;
  for (const char* shown : {"default 127.0.0.1:7070", "default 127.0.0.1:9464", "default 4 ",
                            "default 20000 ", "default 8s", "default info", "default auto"}) {
    EXPECT_THAT(text, HasSubstr(shown));
  }
}

TEST_F(HelpTest, AnEnvironmentWithASecretDoesNotShowInHelp) {
  SetVariable("SKIPLANE_DATABASE", "postgresql://u:hunter2@db");
  EXPECT_THAT(Ended({"--help"}).text, ::testing::Not(HasSubstr("hunter2")));
}

TEST_F(HelpTest, TheVersionIsShown) {
  const EarlyExit end = Ended({"--version"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.text, "skiplaned 1.2.3\n");
}

TEST_F(HelpTest, AnErrorSaysWhereHelpIs) {
  EXPECT_THAT(Ended({"--nonsense"}).text,
              AllOf(StartsWith("skiplaned: "), HasSubstr("--nonsense"), HasSubstr("--help")));
}

}  // namespace
}  // namespace skiplane::config
