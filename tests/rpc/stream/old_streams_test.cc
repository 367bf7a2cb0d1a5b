// Streams that began together end one after the other.
#include <set>

#include "gmock/gmock.h"
#include "server/rpc/stream/stream_set.h"

namespace skiplane::rpc {
namespace {

TEST(OldStreamsTest, EndUpToATenthOfTheirAgeEarlierAndAtManyTimes) {
  constexpr std::chrono::steady_clock::time_point kBegin{std::chrono::hours(1)};
  constexpr std::chrono::nanoseconds kAge = std::chrono::minutes(30);
  absl::BitGen random;
  std::set<std::chrono::steady_clock::time_point> ends;
  for (int i = 0; i < 10'000; ++i) ends.insert(OldFrom(kBegin, kAge, random));
  EXPECT_GT(*ends.begin(), kBegin + kAge * 9 / 10);
  EXPECT_LE(*ends.rbegin(), kBegin + kAge);
  EXPECT_GT(ends.size(), 50U);
  EXPECT_LT(*ends.begin(), kBegin + kAge * 92 / 100);
  EXPECT_GT(*ends.rbegin(), kBegin + kAge * 98 / 100);
}

}  // namespace
}  // namespace skiplane::rpc
