#include "server/config/config.h"

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/config/world.h"

namespace skiplane::config {
namespace {

using ::testing::HasSubstr;

class ConfigTest : public World {};

TEST_F(ConfigTest, TheDefaultsAreSafeAndLocal) {
  const Config config = Parsed({"--database", "postgresql://db/skiplane"});
  EXPECT_EQ(config.command, Command::kServe);
  EXPECT_EQ(config.listen, "127.0.0.1:7070");
  EXPECT_EQ(config.metrics_listen, "127.0.0.1:9464");
  EXPECT_EQ(config.database_uri, "postgresql://db/skiplane");
  EXPECT_EQ(config.embedded_dir, "");
  EXPECT_EQ(config.pg_bindir, "");
  EXPECT_EQ(config.database_connections, 4);
  EXPECT_FALSE(config.auto_create_queues);
  EXPECT_FALSE(config.allow_unsafe_durability);
  EXPECT_TRUE(config.migrate_at_start);
  EXPECT_FALSE(config.tls.enabled());
  EXPECT_TRUE(config.reflection);
  EXPECT_EQ(config.max_connections, 16000);
  EXPECT_EQ(config.max_waiting_calls, 20000);
  EXPECT_EQ(config.max_waiting_calls_per_connection, 5000);
  EXPECT_EQ(config.max_new_queues_per_minute, 3000);
  EXPECT_EQ(config.principal_share, 75);
  EXPECT_EQ(config.address_share, 80);
  EXPECT_EQ(config.drain_timeout, absl::Seconds(8));
  EXPECT_EQ(config.log_level, base::LogLevel::kInfo);
  EXPECT_EQ(config.ready_file, "");
}

TEST_F(ConfigTest, EveryFlagReachesItsPlace) {
  const std::string cert = WriteFile("cert", "");
  const std::string key = WriteFile("key", "");
  const std::string ca = WriteFile("ca", "");
  const Config config = Parsed(
      {"--listen", "[::1]:0", "--metrics-listen", "127.0.0.2:0", "--embedded", folder(),
       "--pg-bindir", folder(), "--database-connections", "7", "--auto-create-queues",
       "--allow-unsafe-durability", "--no-migrate", "--tls-cert", cert, "--tls-key", key,
       "--tls-client-ca", ca, "--reflection", "off", "--max-waiting-calls", "5",
       "--max-connections", "6", "--max-waiting-calls-per-connection", "4",
       "--max-new-queues-per-minute", "9", "--principal-share", "60", "--address-share", "70",
       "--drain-timeout", "250ms", "--log-level", "debug", "--log-format", "json",
       "--ready-file", "ready", "--http-listen", "[::1]:0", "--http-host", "a,b",
       "--http-host", "c", "--http-origin",
       "https://tools.example:443,http://b:80,https://c:80,http://d:8080"});
  EXPECT_EQ(config.listen, "[::1]:0");
  EXPECT_EQ(config.metrics_listen, "127.0.0.2:0");
  EXPECT_EQ(config.http_listen, "[::1]:0");
  EXPECT_THAT(config.http_hosts, ::testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(config.http_origins, ::testing::ElementsAre("https://tools.example", "http://b",
                                                         "https://c:80", "http://d:8080"));
  EXPECT_FALSE(config.is_http_by_default);
  EXPECT_EQ(config.embedded_dir, folder());
  EXPECT_EQ(config.pg_bindir, folder());
  EXPECT_EQ(config.database_connections, 7);
  EXPECT_TRUE(config.auto_create_queues);
  EXPECT_TRUE(config.allow_unsafe_durability);
  EXPECT_FALSE(config.migrate_at_start);
  EXPECT_EQ(config.tls.cert_file, cert);
  EXPECT_EQ(config.tls.key_file, key);
  EXPECT_EQ(config.tls.client_ca_file, ca);
  EXPECT_FALSE(config.reflection);
  EXPECT_EQ(config.max_connections, 6);
  EXPECT_EQ(config.max_waiting_calls, 5);
  EXPECT_EQ(config.max_waiting_calls_per_connection, 4);
  EXPECT_EQ(config.max_new_queues_per_minute, 9);
  EXPECT_EQ(config.principal_share, 60);
  EXPECT_EQ(config.address_share, 70);
  EXPECT_EQ(config.drain_timeout, absl::Milliseconds(250));
  EXPECT_EQ(config.log_level, base::LogLevel::kDebug);
  EXPECT_EQ(config.log_format, base::LogFormat::kJson);
  EXPECT_EQ(config.ready_file, "ready");
}

TEST_F(ConfigTest, SeveralQueuesMayBeNamedForTheMetrics) {
  const std::vector<std::string> both = {"mail", "pay-*"};
  EXPECT_EQ(ParsedWithDatabase({"--metrics-queue", "mail", "--metrics-queue", "pay-*"})
                .metrics_queues,
            both);
  EXPECT_EQ(ParsedWithDatabase({"--metrics-queue=mail,pay-*"}).metrics_queues, both);
  SetVariable("SKIPLANE_METRICS_QUEUE", "mail,pay-*");
  EXPECT_EQ(ParsedWithDatabase({}).metrics_queues, both);
  SetVariable("SKIPLANE_METRICS_QUEUE", "");
  const std::string file = WriteFile("settings", "metrics-queue = mail,pay-*\n");
  EXPECT_EQ(ParsedWithDatabase({"--config", file}).metrics_queues, both);
  EXPECT_THAT(EndedWithDatabase({"--metrics-queue", "no queue"}).text,
              HasSubstr("--metrics-queue"));
}

TEST_F(ConfigTest, AFileMayNameSeveralQueuesInOneLineOnly) {
  const auto file = [this](const std::string& text) {
    return std::vector<std::string>{"--config", WriteFile("settings", text)};
  };
  EXPECT_EQ(ParsedWithDatabase(file("metrics-queue = a,b*,c?\n")).metrics_queues,
            (std::vector<std::string>{"a", "b*", "c?"}));
  EXPECT_THAT(EndedWithDatabase(file("metrics-queue = a\nmetrics-queue = b\n")).text,
              AllOf(HasSubstr("line 2"), HasSubstr("stands in line 1 already"),
                    HasSubstr("with commas between")));
  EXPECT_THAT(EndedWithDatabase(file("metrics-queue = a,no queue\n")).text,
              AllOf(HasSubstr("line 1"), HasSubstr("must be the name of a queue")));
  EXPECT_THAT(EndedWithDatabase(file("metrics-queue = ,\n")).text, HasSubstr("has no value"));
}

TEST_F(ConfigTest, SubcommandsTakeTheFlagsBeforeAndAfterThem) {
  const Config before =
      Parsed({"--database-connections=5", "--database=postgresql://db", "migrate"});
  const Config after =
      Parsed({"migrate", "--database-connections=5", "--database=postgresql://db"});
  EXPECT_EQ(before.command, Command::kMigrate);
  EXPECT_EQ(after.command, Command::kMigrate);
  EXPECT_EQ(before.database_connections, 5);
  EXPECT_EQ(after.database_connections, 5);
  EXPECT_EQ(ParsedWithDatabase({"serve"}).command, Command::kServe);
}

TEST_F(ConfigTest, WhatIsNoFlagAndNoSubcommandIsAnError) {
  EXPECT_THAT(EndedWithDatabase({"migrat"}).text, HasSubstr("migrat"));
  EXPECT_EQ(EndedWithDatabase({"serve", "migrate"}).code, 2);
  EXPECT_EQ(EndedWithDatabase({"--verbose"}).code, 2);
  EXPECT_EQ(EndedWithDatabase({"--conn=5"}).code, 2);
}

TEST_F(ConfigTest, ADatabaseIsNeeded) {
  const EarlyExit end = Ended({});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.text, AllOf(HasSubstr("--database"), HasSubstr("--database-file"),
                              HasSubstr("--embedded")));
}

TEST_F(ConfigTest, OnlyOneDatabaseMayBeNamedWhereverItIsNamed) {
  const std::string uri = WriteFile("uri", "postgresql://db\n");
  EXPECT_EQ(EndedWithDatabase({"--embedded", folder()}).code, 2);
  EXPECT_EQ(EndedWithDatabase({"--database-file", uri}).code, 2);
  EXPECT_EQ(Ended({"--embedded", folder(), "--database-file", uri}).code, 2);
  SetVariable("SKIPLANE_DATABASE", "postgresql://other");
  EXPECT_EQ(Ended({"--embedded", folder()}).code, 2);
}

TEST_F(ConfigTest, TheEnvironmentMayNameTheDatabase) {
  SetVariable("SKIPLANE_DATABASE", "postgresql://u:secret@db/skiplane");
  EXPECT_EQ(Parsed({}).database_uri, "postgresql://u:secret@db/skiplane");
}

TEST_F(ConfigTest, AFileMayHoldTheUri) {
  const std::string uri = WriteFile("uri", "  postgres://u:s#,=t@db/skiplane \r\nmore\n");
  EXPECT_EQ(Parsed({"--database-file", uri}).database_uri, "postgres://u:s#,=t@db/skiplane");
}

TEST_F(ConfigTest, AFileWithoutAUriIsAnErrorThatDoesNotRepeatItsText) {
  for (const char* text : {"", "\n", "hunter2\n", "\npostgresql://hunter2\n"}) {
    const EarlyExit end = Ended({"--database-file", WriteFile("uri", text)});
    EXPECT_EQ(end.code, 2) << text;
    EXPECT_THAT(end.text, HasSubstr("--database-file"));
    EXPECT_THAT(end.text, ::testing::Not(HasSubstr("hunter2")));
  }
}

TEST_F(ConfigTest, ARelativeFolderIsMadeAbsolute) {
  const Config config = Parsed({"--embedded", "data"});
  EXPECT_EQ(config.embedded_dir, (std::filesystem::current_path() / "data").string());
}

TEST_F(ConfigTest, ThePostgresProgramsAreForTheEmbeddedOneOnly) {
  const EarlyExit end = EndedWithDatabase({"--pg-bindir", folder()});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.text, AllOf(HasSubstr("--pg-bindir"), HasSubstr("--embedded")));
}

TEST_F(ConfigTest, CertificateAndKeyNeedEachOther) {
  const std::string file = WriteFile("pem", "");
  EXPECT_THAT(EndedWithDatabase({"--tls-cert", file}).text, HasSubstr("--tls-key"));
  EXPECT_THAT(EndedWithDatabase({"--tls-key", file}).text, HasSubstr("--tls-cert"));
  EXPECT_THAT(EndedWithDatabase({"--tls-client-ca", file}).text, HasSubstr("--tls-cert"));
  EXPECT_TRUE(ParsedWithDatabase({"--tls-cert", file, "--tls-key", file}).tls.enabled());
}

TEST_F(ConfigTest, ReflectionIsAutomaticallyOffWhereOthersReachTheBroker) {
  EXPECT_TRUE(ParsedWithDatabase({"--listen=127.0.0.1:0"}).reflection);
  EXPECT_FALSE(ParsedWithDatabase({"--listen=0.0.0.0:0", "--open-access"}).reflection);
  EXPECT_TRUE(
      ParsedWithDatabase({"--listen=0.0.0.0:0", "--open-access", "--reflection=on"}).reflection);
  EXPECT_FALSE(ParsedWithDatabase({"--listen=127.0.0.1:0", "--reflection=off"}).reflection);
}

TEST_F(ConfigTest, HttpIsForThisMachineWithAnEmbeddedDatabaseAndElseOff) {
  EXPECT_EQ(Parsed({"--embedded", folder()}).http_listen, "127.0.0.1:7080");
  EXPECT_EQ(Parsed({"--embedded", folder(), "--http-listen=off"}).http_listen, "");
  EXPECT_EQ(ParsedWithDatabase({}).http_listen, "");
  EXPECT_EQ(ParsedWithDatabase({"--http-listen=off"}).http_listen, "");
  EXPECT_EQ(ParsedWithDatabase({"--http-listen=localhost:0"}).http_listen, "localhost:0");
}

TEST_F(ConfigTest, TheMetricsPageCanBeSwitchedOff) {
  EXPECT_EQ(ParsedWithDatabase({"--metrics-listen=off"}).metrics_listen, "");
}

}  // namespace
}  // namespace skiplane::config
