#include "server/rpc/stream/patience.h"

#include "gtest/gtest.h"

namespace skiplane::rpc {
namespace {

constexpr base::SteadyTime kBegin{std::chrono::hours(1)};

TEST(PatienceTest, EndsWhenAllHasFailedForLong) {
  Patience patience;
  EXPECT_TRUE(patience.Allows(kBegin));
  EXPECT_TRUE(patience.Allows(kBegin + Patience::kMost - std::chrono::milliseconds(1)));
  EXPECT_FALSE(patience.Allows(kBegin + Patience::kMost));
}

TEST(PatienceTest, BeginsAnewOnceSomethingWasAnswered) {
  Patience patience;
  EXPECT_TRUE(patience.Allows(kBegin));
  patience.Reset();
  EXPECT_TRUE(patience.Allows(kBegin + Patience::kMost));
  EXPECT_TRUE(patience.Allows(kBegin + 2 * Patience::kMost - std::chrono::milliseconds(1)));
  EXPECT_FALSE(patience.Allows(kBegin + 2 * Patience::kMost));
}

}  // namespace
}  // namespace skiplane::rpc
