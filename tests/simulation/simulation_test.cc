#include <sstream>

#include "gtest/gtest.h"
#include "tests/simulation/history.h"
#include "tests/simulation/seed.h"
#include "tests/simulation/world.h"

namespace skiplane::simulation {
namespace {

TEST(SimulationTest, NoSeedBreaksAnInvariant) {
  for (uint64_t seed = 1; seed <= SKIPLANE_SEEDS; ++seed) {
    const Played played = PlaySeed(seed);
    ASSERT_EQ(played.failure, "");
    EXPECT_GT(played.events, 0);
  }
}

std::string TraceOf(uint64_t seed) {
  std::ostringstream trace;
  EXPECT_EQ(World(MakeHistory(seed), &trace).Play(), "");
  return trace.str();
}

// Else a seed that fails could not be followed.
TEST(SimulationTest, ASeedGivesTheSameRunEachTime) {
  for (uint64_t seed = 1; seed <= 10; ++seed) EXPECT_EQ(TraceOf(seed), TraceOf(seed));
  EXPECT_NE(TraceOf(1), TraceOf(2));
}

TEST(SimulationTest, AHistoryIsReadAsItWasPrinted) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const std::string text = Print(MakeHistory(seed));
    const std::optional<History> again = Parse(text);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(Print(*again), text);
  }
  EXPECT_FALSE(Parse("").has_value());
  EXPECT_FALSE(Parse("history seed=1\n").has_value());
  EXPECT_FALSE(Parse(Print(History()) + "  dance at=1\n").has_value());
}

}  // namespace
}  // namespace skiplane::simulation
