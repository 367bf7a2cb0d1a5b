#include "server/base/sampled_event.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skiplane::base {
namespace {

using ::testing::EndsWith;
using ::testing::IsEmpty;
using std::chrono::milliseconds;

class SampledEventTest : public ::testing::Test {
 protected:
  SampledEventTest() {
    FlushLog();
    testing::internal::CaptureStderr();
  }
  ~SampledEventTest() override { SetLogLevel(LogLevel::kInfo); }

  static std::vector<std::string> Lines() {
    FlushLog();
    return absl::StrSplit(testing::internal::GetCapturedStderr(), '\n', absl::SkipEmpty());
  }
};

TEST_F(SampledEventTest, IsNotWantedBelowDebugAndNothingIsCountedAsLeftOut) {
  SampledEvent event("e");
  for (int i = 0; i < 10 * SecondLimit::kPerSecond; ++i) EXPECT_FALSE(event.Wanted());
  SetLogLevel(LogLevel::kDebug);
  ASSERT_TRUE(event.Wanted());
  event.Write({{"n", "1"}});
  EXPECT_THAT(Lines(), ::testing::ElementsAre(EndsWith("debug e n=1")));
}

// However fast it comes: a second more of this loop is one more bound of lines.
TEST_F(SampledEventTest, AFloodIsCutAndCounted) {
  SetLogLevel(LogLevel::kDebug);
  SampledEvent event("e");
  const auto begin = std::chrono::steady_clock::now();
  int wanted = 0;
  for (int i = 0; i < 1000; ++i) wanted += event.Wanted() ? 1 : 0;
  const auto passed = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(wanted, SecondLimit::kPerSecond);
  EXPECT_LE(wanted, SecondLimit::kPerSecond * (2 + passed / std::chrono::seconds(1)));
  event.Write({{"n", "1"}});
  EXPECT_THAT(Lines().back(), EndsWith(absl::StrCat("debug e n=1 left_out=", 1000 - wanted)));
}

TEST(SecondLimitTest, EachSecondHasItsBoundAndWhatIsLeftOutIsToldOnce) {
  SecondLimit limit;
  const std::chrono::steady_clock::time_point begin(milliseconds(5000));
  for (int i = 0; i < SecondLimit::kPerSecond; ++i) EXPECT_TRUE(limit.Allows(begin));
  EXPECT_FALSE(limit.Allows(begin));
  EXPECT_FALSE(limit.Allows(begin + milliseconds(999)));
  EXPECT_TRUE(limit.Allows(begin + milliseconds(1000)));
  EXPECT_EQ(limit.TakeLeftOut(), 2);
  EXPECT_EQ(limit.TakeLeftOut(), 0);
}

}  // namespace
}  // namespace skiplane::base
