// Shows each target the seeds that are kept for it, once: what was found once stays mended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

class CorpusTest : public ::testing::TestWithParam<Target> {};

TEST_P(CorpusTest, HasSeedsThatShowNoFault) {
  const std::filesystem::path folder = std::filesystem::path(SKIPLANE_CORPUS) / GetParam().name;
  int seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::cout << entry.path().filename().string() << std::endl;  // the last one is at fault
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_TRUE(file.is_open());
    GetParam().run(bytes);
    ++seeds;
  }
  EXPECT_GT(seeds, 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, CorpusTest, ::testing::ValuesIn(Targets()),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(CorpusDeathTest, DemandEndsTheProgram) {
  EXPECT_DEATH(Demand(false, "two is three"), "Does not hold: two is three");
  EXPECT_DEATH(DemandRefusal(absl::InvalidArgumentError("no reason")), "a reason is in the list");
}

}  // namespace
}  // namespace skiplane::fuzz
