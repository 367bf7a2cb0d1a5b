#include "server/app/cluster/embedded_settings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skiplane::app {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(EmbeddedSettingsTest, BuffersAreAQuarterOfTheMemoryWithinBounds) {
  EXPECT_EQ(SharedBuffersBytes(256 * kMiB), 128 * kMiB);
  EXPECT_EQ(SharedBuffersBytes(2048 * kMiB), 512 * kMiB);
  EXPECT_EQ(SharedBuffersBytes(65536 * kMiB), 1024 * kMiB);
}

TEST(EmbeddedSettingsTest, TheTextCarriesTheBuffersAndDurability) {
  const std::string text = EmbeddedSettings(2048 * kMiB);
  EXPECT_THAT(text, HasSubstr("\nshared_buffers = 512MB\n"));
  for (const char* setting : {"fsync", "full_page_writes", "synchronous_commit"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + setting + " = on\n"));
  }
}

TEST(EmbeddedSettingsTest, MemoryIsWhatTheMachineHasAtMost) {
  EXPECT_GT(MemoryBytes(), 16 * kMiB);
}

}  // namespace
}  // namespace skiplane::app
