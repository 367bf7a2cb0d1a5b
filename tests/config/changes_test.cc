#include "server/config/changes.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/config/world.h"

namespace skiplane::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using ChangesTest = World;

TEST_F(ChangesTest, EachSettingIsNamedByItsFlag) {
  const Config running = ParsedWithDatabase({});
  for (const std::string flag :
       {"listen=127.0.0.1:1", "metrics-listen=off", "http-listen=127.0.0.1:2",
        "http-host=a.b", "http-origin=https://a.b", "metrics-queue=a",
        "database-connections=9", "auto-create-queues=true", "no-hand-off=true",
        "allow-unsafe-durability=true", "no-migrate=true", "reflection=off",
        "max-connections=9", "max-waiting-calls=9", "max-waiting-calls-per-connection=9",
        "max-new-queues-per-minute=9", "principal-share=9", "address-share=9",
        "drain-timeout=9s", "log-format=json", "ready-file=/x"}) {
    const Config read = ParsedWithDatabase({"--" + flag});
    EXPECT_THAT(OtherChanges(running, read), ElementsAre(flag.substr(0, flag.find('='))));
  }
}

TEST_F(ChangesTest, TheDashboardIsOneOfThem) {
  const std::string http = "--http-listen=127.0.0.1:2";
  EXPECT_THAT(OtherChanges(ParsedWithDatabase({http}), ParsedWithDatabase({http, "--dashboard"})),
              ElementsAre("dashboard"));
}

TEST_F(ChangesTest, AnotherDatabaseIsOneOfThem) {
  const Config running = Parsed({"--database=postgresql:///one"});
  EXPECT_THAT(OtherChanges(running, Parsed({"--database=postgresql:///two"})),
              ElementsAre("database"));
}

TEST_F(ChangesTest, WhatAReloadTakesIsNoneOfThem) {
  const std::string file = WriteFile("any", "x");
  const Config read = ParsedWithDatabase({"--log-level=debug", "--rules-file=" + file,
                                          "--tls-cert=" + file, "--tls-key=" + file});
  EXPECT_THAT(OtherChanges(ParsedWithDatabase({}), read), IsEmpty());
}

TEST_F(ChangesTest, ADifferenceWithoutAFlagIsToldNevertheless) {
  Config read = ParsedWithDatabase({});
  read.is_http_by_default = true;
  EXPECT_THAT(OtherChanges(ParsedWithDatabase({}), read), ElementsAre("others"));
}

}  // namespace
}  // namespace skiplane::config
