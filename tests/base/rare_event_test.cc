// Of an event that happens at any rate a line in ten seconds is written.
#include "server/base/rare_event.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skiplane::base {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

TEST(RareEventTest, OneLineInTenSecondsTellsHowManyWereLeftOut) {
  FlushLog();
  testing::internal::CaptureStderr();
  RareEvent event("full");
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(event.WantedAt(begin));
  event.Write(LogLevel::kWarn, {{"queue", "a"}});
  EXPECT_FALSE(event.WantedAt(begin));
  EXPECT_FALSE(event.WantedAt(begin + RareEvent::kEvery - std::chrono::milliseconds(1)));
  ASSERT_TRUE(event.WantedAt(begin + RareEvent::kEvery));
  event.Write(LogLevel::kWarn, {{"queue", "b"}});
  ASSERT_TRUE(event.WantedAt(begin + 2 * RareEvent::kEvery));
  event.Write(LogLevel::kWarn, {{"queue", "c"}});
  FlushLog();
  const std::vector<std::string> lines =
      absl::StrSplit(testing::internal::GetCapturedStderr(), '\n', absl::SkipEmpty());
  EXPECT_THAT(lines, ElementsAre(EndsWith("warn full queue=a"),
                                 EndsWith("warn full queue=b left_out=2"),
                                 EndsWith("warn full queue=c")));
}

}  // namespace
}  // namespace skiplane::base
