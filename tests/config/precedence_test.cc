#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/config/world.h"

namespace skiplane::config {
namespace {

using ::testing::HasSubstr;

class PrecedenceTest : public World {
 protected:
  // A file that says 11 connections, and more.
  std::string File() const {
    return WriteFile("settings",
                     "# a comment\n"
                     "database-connections = 11\n"
                     "auto-create-queues = true\n"
                     "log-level = \"warn\"\n");
  }
};

TEST_F(PrecedenceTest, TheFileBeatsTheDefault) {
  const Config config = ParsedWithDatabase({"--config", File()});
  EXPECT_EQ(config.database_connections, 11);
  EXPECT_TRUE(config.auto_create_queues);
  EXPECT_EQ(config.log_level, base::LogLevel::kWarn);
}

TEST_F(PrecedenceTest, TheEnvironmentBeatsTheDefault) {
  SetVariable("SKIPLANE_DATABASE_CONNECTIONS", "22");
  SetVariable("SKIPLANE_AUTO_CREATE_QUEUES", "true");
  EXPECT_EQ(ParsedWithDatabase({}).database_connections, 22);
  EXPECT_TRUE(ParsedWithDatabase({}).auto_create_queues);
}

TEST_F(PrecedenceTest, TheEnvironmentBeatsTheFile) {
  SetVariable("SKIPLANE_DATABASE_CONNECTIONS", "22");
  SetVariable("SKIPLANE_AUTO_CREATE_QUEUES", "false");
  const Config config = ParsedWithDatabase({"--config", File()});
  EXPECT_EQ(config.database_connections, 22);
  EXPECT_FALSE(config.auto_create_queues);
  EXPECT_EQ(config.log_level, base::LogLevel::kWarn);
}

TEST_F(PrecedenceTest, TheFlagBeatsTheFile) {
  const Config config = ParsedWithDatabase(
      {"--config", File(), "--database-connections=33", "--auto-create-queues=false"});
  EXPECT_EQ(config.database_connections, 33);
  EXPECT_FALSE(config.auto_create_queues);
}

TEST_F(PrecedenceTest, TheFlagBeatsTheEnvironmentAndTheFileInAnyOrder) {
  SetVariable("SKIPLANE_DATABASE_CONNECTIONS", "22");
  const std::string flag = "--database-connections=33";
  EXPECT_EQ(ParsedWithDatabase({flag, "--config", File()}).database_connections, 33);
  EXPECT_EQ(ParsedWithDatabase({"--config", File(), flag}).database_connections, 33);
}

TEST_F(PrecedenceTest, AnEmptyVariableSaysNothing) {
  SetVariable("SKIPLANE_DATABASE_CONNECTIONS", "");
  EXPECT_EQ(ParsedWithDatabase({"--config", File()}).database_connections, 11);
}

TEST_F(PrecedenceTest, AVariableOutOfRangeIsBlamedAndNotItsFlag) {
  SetVariable("SKIPLANE_DATABASE_CONNECTIONS", "1000");
  const EarlyExit end = EndedWithDatabase({});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.text, HasSubstr("SKIPLANE_DATABASE_CONNECTIONS, for --database-connections: "));
  EXPECT_THAT(EndedWithDatabase({"--database-connections=1000"}).text,
              ::testing::Not(HasSubstr("SKIPLANE_")));
}

TEST_F(PrecedenceTest, TheLastOfTwoEqualFlagsCounts) {
  EXPECT_EQ(ParsedWithDatabase({"--database-connections=5", "--database-connections=6"})
                .database_connections,
            6);
}

TEST_F(PrecedenceTest, AnUnknownNameInTheFileIsAnError) {
  const EarlyExit end = EndedWithDatabase({"--config", WriteFile("settings", "conections = 5\n")});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.text, HasSubstr("settings line 1: there is no setting conections. There are: "));
  EXPECT_THAT(end.text, HasSubstr("listen, metrics-listen, "));
}

TEST_F(PrecedenceTest, AWrongValueInTheFileIsBlamedOnItsLine) {
  const auto said = [this](const std::string& text) {
    const EarlyExit end =
        EndedWithDatabase({"--config", WriteFile("settings", "# a comment\n\n" + text + "\n")});
    EXPECT_EQ(end.code, 2);
    return end.text;
  };
  EXPECT_THAT(said("listen = nonsense"), HasSubstr("settings line 3: listen: must be HOST:PORT"));
  EXPECT_THAT(said("database-connections = 99"),
              HasSubstr("line 3: database-connections: Value 99 not in range 2"));
  EXPECT_THAT(said("no-migrate = maybe"), HasSubstr("line 3: no-migrate: must be true or false"));
  EXPECT_THAT(said("listen ="), HasSubstr("line 3: listen: has no value"));
  EXPECT_THAT(said("[broker]"), HasSubstr("line 3: must be 'name = value'"));
  EXPECT_THAT(said("x"), HasSubstr("line 3: must be 'name = value'"));
  EXPECT_THAT(said("config = other"), HasSubstr("line 3: a file cannot set config."));
  EXPECT_THAT(said("database-connections = 5\nlog-level = warn\ndatabase-connections = 6"),
              HasSubstr("line 5: database-connections: stands in line 3 already"));
}

TEST_F(PrecedenceTest, ALineThatIsNoSettingIsNotRepeated) {
  for (const char* const line : {"postgresql://u:hunter2@db", "database = hunter2",
                                 "database: postgresql://u:hunter2@db/x?a=b",
                                 "database-file = postgresql://u:hunter2@db",
                                 "database-connections = postgresql://u:hunter2@db"}) {
    const EarlyExit end = Ended({"--config", WriteFile("settings", line)});
    EXPECT_THAT(end.text, HasSubstr("settings line 1: ")) << line;
    EXPECT_THAT(end.text, ::testing::Not(HasSubstr("hunter2")));
  }
}

TEST_F(PrecedenceTest, AWrongValueThatDoesNotCountDoesNoHarm) {
  const std::string file = WriteFile("settings", "database-connections = 99\n");
  EXPECT_EQ(ParsedWithDatabase({"--config", file, "--database-connections=5"})
                .database_connections,
            5);
  SetVariable("SKIPLANE_DATABASE_CONNECTIONS", "6");
  EXPECT_EQ(ParsedWithDatabase({"--config", file}).database_connections, 6);
}

TEST_F(PrecedenceTest, AFileCannotNameAnotherFile) {
  const std::string inner = WriteFile("inner", "database-connections = 5\n");
  EXPECT_EQ(EndedWithDatabase({"--config", WriteFile("outer", "config = " + inner + "\n")}).code,
            2);
}

TEST_F(PrecedenceTest, ValuesOfTheFileAreTakenAsTheyStand) {
  const std::string file = WriteFile("settings",
                                     "database = postgresql://u:p#w, x@db/s?a=b\n"
                                     "listen = [::1]:7070\n"
                                     "ready-file = \"/run/sky plane\"\n");
  const Config config = Parsed({"--config", file});
  EXPECT_EQ(config.database_uri, "postgresql://u:p#w, x@db/s?a=b");
  EXPECT_EQ(config.listen, "[::1]:7070");
  EXPECT_EQ(config.ready_file, "/run/sky plane");
}

}  // namespace
}  // namespace skiplane::config
