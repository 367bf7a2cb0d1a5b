#include "server/config/source.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/config/world.h"

namespace skiplane::config {
namespace {

class SourceTest : public World {};

TEST_F(SourceTest, AFlagIsSeenInBothItsForms) {
  SetVariable("SKIPLANE_LOG_LEVEL", "warn");
  EXPECT_EQ(SourceOf({"--log-level", "debug"}, "log-level"), "flag");
  EXPECT_EQ(SourceOf({"serve", "--log-level=debug"}, "log-level"), "flag");
}

TEST_F(SourceTest, AnotherFlagWithTheSameBeginningIsNone) {
  EXPECT_EQ(SourceOf({"--log-level-of-tomorrow=debug"}, "log-level"), "file or default");
}

TEST_F(SourceTest, TheEnvironmentIsNextAndAnEmptyVariableIsNone) {
  SetVariable("SKIPLANE_LOG_LEVEL", "warn");
  EXPECT_EQ(SourceOf({"--config=x"}, "log-level"), "environment");
  SetVariable("SKIPLANE_LOG_LEVEL", "");
  EXPECT_EQ(SourceOf({"--config=x"}, "log-level"), "file or default");
}

}  // namespace
}  // namespace skiplane::config
