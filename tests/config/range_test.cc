// Every flag that has a range, at its ends and beyond them.
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/config/world.h"

namespace skiplane::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  std::string flag;
  std::vector<std::string> bad_values;

  friend void PrintTo(const Case& instance, std::ostream* out) { *out << instance.flag; }
};

class RangeTest : public World, public ::testing::WithParamInterface<Case> {};

TEST_P(RangeTest, AValueOutOfRangeGivesAnErrorThatNamesTheFlag) {
  for (const std::string& value : GetParam().bad_values) {
    const std::string flag = "--" + GetParam().flag;
    const EarlyExit end = EndedWithDatabase({flag + "=" + value});
    EXPECT_EQ(end.code, 2) << value;
    EXPECT_THAT(end.text, HasSubstr(flag)) << value;
  }
}

TEST_P(RangeTest, TheSameHoldsForTheFile) {
  for (const std::string& value : GetParam().bad_values) {
    if (value.empty()) continue;
    const std::string file = WriteFile("settings", GetParam().flag + " = " + value + "\n");
    const EarlyExit end = GetParam().flag == "database" ? Ended({"--config", file})
                                                        : EndedWithDatabase({"--config", file});
    EXPECT_EQ(end.code, 2) << value;
    EXPECT_THAT(end.text, HasSubstr("settings line 1: " + GetParam().flag + ": ")) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Flags, RangeTest,
    ::testing::Values(
        Case{"listen", {"", "7070", "localhost", "127.0.0.1:65536", "off"}},
        Case{"metrics-listen", {"", "9464", "localhost:9464", "127.0.0.1:-1", "on"}},
        Case{"http-listen", {"", "7080", "localhost", "127.0.0.1:-1", "on"}},
        Case{"http-host", {"", "broker:7080", "http://broker", "127.0.0.1", "a b", "*"}},
        Case{"http-origin", {"", "*", "null", "tools.example", "ftp://a.b", "https://a.b/",
                             "https://a.b:x", "https://", "https://a.b/c"}},
        Case{"database-connections", {"", "1", "65", "-4", "four", "4.5", "99999999999999999999"}},
        Case{"max-connections", {"", "0", "1000001", "-1", "many"}},
        Case{"max-waiting-calls", {"", "0", "1000001", "-1", "many"}},
        Case{"max-waiting-calls-per-connection", {"", "0", "1000001", "-1", "many"}},
        Case{"max-new-queues-per-minute", {"", "0", "100001", "-1", "many"}},
        Case{"principal-share", {"", "0", "101", "-1", "half"}},
        Case{"address-share", {"", "0", "101", "-1", "half"}},
        Case{"drain-timeout", {"", "8", "-1s", "301s", "inf", "soon", "1h"}},
        Case{"log-level", {"", "INFO", "trace", "2"}},
        Case{"log-format", {"", "JSON", "xml"}},
        Case{"reflection", {"", "true", "On", "loopback"}},
        Case{"database", {"", "db", "mysql://db/x", "host=db", "http://postgresql://db"}},
        Case{"database-file", {"", "/nonexistent/uri"}},
        Case{"embedded", {""}},
        Case{"pg-bindir", {"", "/nonexistent"}},
        Case{"tls-cert", {"", "/nonexistent.pem"}},
        Case{"tls-key", {"", "/nonexistent.pem"}},
        Case{"tls-client-ca", {"", "/nonexistent.pem"}},
        Case{"tls-client-certificate", {"", "maybe", "Required"}},
        Case{"token-file", {"", "/nonexistent"}},
        Case{"jwt-keys", {"", "/nonexistent.pem"}},
        Case{"rules-file", {"", "/nonexistent"}},
        Case{"open-access", {"maybe"}},
        Case{"ready-file", {""}},
        Case{"auto-create-queues", {"maybe"}},
        Case{"allow-unsafe-durability", {"maybe"}},
        Case{"no-migrate", {"maybe"}}),
    [](const auto& instance) {
      std::string name = instance.param.flag;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

class RangeEndsTest : public World {};

TEST_F(RangeEndsTest, TheEndsOfTheRangesAreAccepted) {
  EXPECT_EQ(ParsedWithDatabase({"--database-connections=2"}).database_connections, 2);
  EXPECT_EQ(ParsedWithDatabase({"--database-connections=64"}).database_connections, 64);
  EXPECT_EQ(ParsedWithDatabase({"--max-waiting-calls=1"}).max_waiting_calls, 1);
  EXPECT_EQ(ParsedWithDatabase({"--max-waiting-calls=1000000"}).max_waiting_calls, 1000000);
  EXPECT_EQ(ParsedWithDatabase({"--max-connections=1"}).max_connections, 1);
  EXPECT_EQ(ParsedWithDatabase({"--max-connections=1000000"}).max_connections, 1000000);
  EXPECT_EQ(ParsedWithDatabase({"--max-waiting-calls-per-connection=1"})
                .max_waiting_calls_per_connection,
            1);
  EXPECT_EQ(ParsedWithDatabase({"--principal-share=1"}).principal_share, 1);
  EXPECT_EQ(ParsedWithDatabase({"--address-share=100"}).address_share, 100);
  EXPECT_EQ(ParsedWithDatabase({"--drain-timeout=0s"}).drain_timeout, absl::ZeroDuration());
  EXPECT_EQ(ParsedWithDatabase({"--drain-timeout=5m"}).drain_timeout, absl::Minutes(5));
  EXPECT_EQ(ParsedWithDatabase({"--drain-timeout=1.5s"}).drain_timeout, absl::Milliseconds(1500));
}

// "Value many not in range 1 to 1000000" was what was said.
TEST_F(RangeEndsTest, WhatIsNoNumberIsNotSaidToBeOutOfRange) {
  const std::string file = WriteFile("settings", "max-connections = many\n");
  EXPECT_THAT(EndedWithDatabase({"--config", file}).text,
              HasSubstr("line 1: max-connections: is not a whole number\n"));
  EXPECT_THAT(EndedWithDatabase({"--database-connections=4.5"}).text,
              HasSubstr("--database-connections: is not a whole number\n"));
  EXPECT_THAT(EndedWithDatabase({"--database-connections=-99999999999999999999"}).text,
              HasSubstr("not in range 2"));
}

TEST_F(RangeEndsTest, AMissingFileIsAnErrorThatNamesItsFlag) {
  EXPECT_THAT(EndedWithDatabase({"--config", "/nonexistent"}).text, HasSubstr("--config"));
}

TEST_F(RangeEndsTest, AnEmptyValueDoesNotSwallowTheNextFlag) {
  const EarlyExit end = Ended({"--ready-file=", "--database=postgresql://db/skiplane"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.text, HasSubstr("--ready-file: "));
}

TEST_F(RangeEndsTest, AnErrorNeverRepeatsTheUriOfADatabase) {
  for (const char* argument :
       {"--database=oops://user:hunter2@db", "postgresql://user:hunter2@db",
        "--listen=postgresql://user:hunter2@db",
        "--database-connections=postgresql://user:hunter2@db",
        "--postgresql://user:hunter2@db/skiplane?sslmode="}) {
    const EarlyExit end = Ended({argument});
    EXPECT_EQ(end.code, 2);
    EXPECT_THAT(end.text, Not(HasSubstr("hunter2")));
  }
}

}  // namespace
}  // namespace skiplane::config
