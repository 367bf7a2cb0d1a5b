// Whose new connections wait, and for how long.
#include "server/net/suspects.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace skiplane::net {
namespace {

const Suspects::SteadyTime kNow = std::chrono::steady_clock::now();

TEST(SuspectsTest, APartyIsOneForSomeTimeAfterTheLastCut) {
  Suspects suspects;
  suspects.Add("a", kNow);
  suspects.Add("a", kNow + Suspects::kFor / 2);
  EXPECT_TRUE(suspects.Has("a", kNow + Suspects::kFor));
  EXPECT_FALSE(suspects.Has("b", kNow));
  EXPECT_FALSE(suspects.Has("a", kNow + 2 * Suspects::kFor));
}

TEST(SuspectsTest, WhenTheyAreManyEverybodyIsOne) {
  Suspects suspects;
  for (size_t i = 0; i < Suspects::kFew; ++i) suspects.Add(absl::StrCat(i), kNow);
  EXPECT_FALSE(suspects.Has("other", kNow));
  suspects.Add("one more", kNow);
  EXPECT_TRUE(suspects.Has("other", kNow));
  EXPECT_FALSE(suspects.Has("other", kNow + Suspects::kFor));
}

TEST(SuspectsTest, ThoseOfBeforeMakeRoom) {
  Suspects suspects;
  for (size_t i = 0; i < 2 * Suspects::kFew; ++i) suspects.Add(absl::StrCat(i), kNow);
  suspects.Add("late", kNow + Suspects::kFor);
  EXPECT_TRUE(suspects.Has("late", kNow + Suspects::kFor));
  EXPECT_FALSE(suspects.Has("other", kNow + Suspects::kFor));
}

}  // namespace
}  // namespace skiplane::net
