// Whether the dashboard is served, by all that may say so.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/config/world.h"

namespace skiplane::config {
namespace {

using ::testing::HasSubstr;

class DashboardFlagTest : public World {
 protected:
  // Of a broker with an HTTP port.
  static bool IsOn(std::vector<std::string> arguments) {
    arguments.emplace_back("--http-listen=127.0.0.1:0");
    return ParsedWithDatabase(std::move(arguments)).dashboard;
  }
};

TEST_F(DashboardFlagTest, ItIsOnWithAnEmbeddedDatabaseAndElseOff) {
  EXPECT_TRUE(Parsed({"--embedded", folder()}).dashboard);
  EXPECT_FALSE(Parsed({"--embedded", folder(), "--no-dashboard"}).dashboard);
  EXPECT_FALSE(Parsed({"--embedded", folder(), "--http-listen=off"}).dashboard);
  EXPECT_FALSE(IsOn({}));
  EXPECT_TRUE(IsOn({"--dashboard"}));
}

TEST_F(DashboardFlagTest, TheLastFlagCounts) {
  EXPECT_FALSE(IsOn({"--dashboard", "--no-dashboard"}));
  EXPECT_TRUE(IsOn({"--no-dashboard", "--dashboard"}));
  EXPECT_FALSE(IsOn({"--dashboard=false"}));
  EXPECT_TRUE(IsOn({"--no-dashboard=false"}));
}

TEST_F(DashboardFlagTest, TheFlagBeatsTheEnvironmentWhichBeatsTheFile) {
  const std::string on = "--config=" + WriteFile("on", "dashboard = true\n");
  const std::string off = "--config=" + WriteFile("off", "no-dashboard = true\n");
  EXPECT_TRUE(IsOn({on}));
  EXPECT_FALSE(IsOn({off}));
  EXPECT_FALSE(IsOn({on, "--no-dashboard"}));
  EXPECT_TRUE(IsOn({off, "--dashboard"}));
  SetVariable("SKIPLANE_DASHBOARD", "true");
  EXPECT_TRUE(IsOn({}));
  EXPECT_TRUE(IsOn({off}));
  EXPECT_FALSE(IsOn({"--no-dashboard"}));
  SetVariable("SKIPLANE_DASHBOARD", "false");
  EXPECT_FALSE(IsOn({on}));
  EXPECT_TRUE(IsOn({on, "--dashboard"}));
}

TEST_F(DashboardFlagTest, AFileSaysItOnce) {
  const std::string path = WriteFile("both", "dashboard = true\nno-dashboard = true\n");
  EXPECT_THAT(EndedWithDatabase({"--config=" + path}).text,
              HasSubstr("line 2: no-dashboard: stands in line 1 already"));
}

TEST_F(DashboardFlagTest, ItNeedsTheHttpPort) {
  for (const EarlyExit& end :
       {EndedWithDatabase({"--dashboard"}),
        EndedWithDatabase({"--dashboard", "--http-listen=off"}),
        Ended({"--embedded", folder(), "--dashboard", "--http-listen=off"})}) {
    EXPECT_EQ(end.code, 2);
    EXPECT_THAT(end.text, HasSubstr("--dashboard: it is served at the HTTP port, and there is "
                                    "none: add --http-listen"));
  }
}

TEST_F(DashboardFlagTest, WhoAsksForItAsksForTheDefaultPort) {
  EXPECT_TRUE(Parsed({"--embedded", folder()}).is_http_by_default);
  EXPECT_TRUE(Parsed({"--embedded", folder(), "--no-dashboard"}).is_http_by_default);
  const Config config = Parsed({"--embedded", folder(), "--dashboard"});
  EXPECT_FALSE(config.is_http_by_default);
  EXPECT_EQ(config.http_listen, "127.0.0.1:7080");
}

TEST_F(DashboardFlagTest, HelpNamesTheOpposite) {
  EXPECT_THAT(Ended({"--help"}).text, HasSubstr("--no-dashboard"));
}

}  // namespace
}  // namespace skiplane::config
