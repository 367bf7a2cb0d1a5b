#include "client/cli/text/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/base/exit_code.h"

namespace skiplane::cli {
namespace {

TEST(DurationTest, UnitsAddUp) {
  EXPECT_EQ(*ParseDuration("90s"), absl::Seconds(90));
  EXPECT_EQ(*ParseDuration("5m"), absl::Minutes(5));
  EXPECT_EQ(*ParseDuration("2h30m"), absl::Minutes(150));
  EXPECT_EQ(*ParseDuration("1w2d"), absl::Hours(24 * 9));
  EXPECT_EQ(*ParseDuration("1.5h"), absl::Minutes(90));
  EXPECT_EQ(*ParseDuration("250ms"), absl::Milliseconds(250));
  EXPECT_EQ(*ParseDuration("0"), absl::ZeroDuration());
}

TEST(DurationTest, ANumberWithoutAUnitIsRefused) {
  for (const char* const text : {"", "90", "s", "5x", "-5s", "5 s", "1h30", "1..5s"}) {
    EXPECT_EQ(ExitCodeOf(ParseDuration(text).status()), kUsage) << text;
  }
}

TEST(DurationTest, TheTwoLargestUnitsAreShown) {
  EXPECT_EQ(DurationText(absl::ZeroDuration()), "0s");
  EXPECT_EQ(DurationText(absl::Milliseconds(12)), "12ms");
  EXPECT_EQ(DurationText(absl::Milliseconds(1500)), "1.5s");
  EXPECT_EQ(DurationText(absl::Minutes(5)), "5m");
  EXPECT_EQ(DurationText(absl::Seconds(9001)), "2h30m");
  EXPECT_EQ(DurationText(absl::Hours(49)), "2d1h");
}

}  // namespace
}  // namespace skiplane::cli
