#include "server/access/jwt_cache.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace skiplane::access {
namespace {

const absl::Time kLater = absl::FromUnixSeconds(1000);

std::shared_ptr<const Principal> Someone() {
  return std::make_shared<const Principal>(Principal{"jwt:x", {}});
}

TEST(JwtCacheTest, ATokenIsRememberedUntilItsExpiry) {
  JwtCache cache(10);
  const auto principal = Someone();
  cache.Remember(Sha256("a"), principal, kLater);
  EXPECT_EQ(cache.Find(Sha256("a"), kLater - absl::Nanoseconds(1)), principal);
  EXPECT_EQ(cache.Find(Sha256("b"), absl::UnixEpoch()), nullptr);
  EXPECT_EQ(cache.Find(Sha256("a"), kLater), nullptr);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(JwtCacheTest, TheFirstIsForgottenWhenThereIsNoRoom) {
  JwtCache cache(3);
  for (const char* token : {"a", "b", "c", "b", "d"}) {
    cache.Remember(Sha256(token), Someone(), kLater);
  }
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_EQ(cache.Find(Sha256("a"), absl::UnixEpoch()), nullptr);
  for (const char* token : {"b", "c", "d"}) {
    EXPECT_NE(cache.Find(Sha256(token), absl::UnixEpoch()), nullptr) << token;
  }
}

TEST(JwtCacheTest, ItStaysBoundedWhileTokensExpire) {
  JwtCache cache(3);
  for (int i = 0; i < 100; ++i) {
    cache.Remember(Sha256(absl::StrCat(i)), Someone(), kLater);
    if (i % 2 == 0) cache.Find(Sha256(absl::StrCat(i)), kLater);
  }
  EXPECT_LE(cache.size(), 3U);
}

}  // namespace
}  // namespace skiplane::access
