#include "server/access/token_sealer.h"

#include <optional>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/hmac_key.h"
#include "server/access/worker_key.h"

namespace skiplane::access {
namespace {

const std::string kToken = "a token of some length";

std::string Hex(const Digest& digest) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

std::string Sealed(const TokenSealer& sealer, absl::string_view principal) {
  std::string token = kToken;
  sealer.For(principal).Seal(&token);
  return token;
}

model::TokenKey Key(int16_t id, bool signs) {
  return {id, std::string(32, static_cast<char>('a' + id)), signs};
}

// RFC 4231, cases 1 and 2.
TEST(HmacKeyTest, ItIsTheOneOfTheStandard) {
  EXPECT_EQ(Hex(HmacKey(std::string(20, '\x0b')).Code("Hi ", "There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(Hex(HmacKey("Jefe").Code("what do ya want for nothing?", "")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(TokenSealerTest, ATokenComesBackToWhoGotIt) {
  const TokenSealer sealer;
  const std::string sealed = Sealed(sealer, "token:ci");
  EXPECT_EQ(sealed.size(), kToken.size() + 18);
  EXPECT_EQ(sealer.For("token:ci").Open(sealed), kToken);
}

TEST(TokenSealerTest, NobodyElseCanUseIt) {
  const TokenSealer sealer;
  const std::string sealed = Sealed(sealer, "token:ci");
  for (const char* other : {"token:c", "token:cix", "anonymous", "", "token:CI"}) {
    EXPECT_EQ(sealer.For(other).Open(sealed), std::nullopt) << other;
  }
  EXPECT_EQ(TokenSealer().For("token:ci").Open(sealed), std::nullopt);  // of another installation
}

// The same bytes in all, of which a longer token would have taken some of the name.
TEST(TokenSealerTest, TheEndOfATokenIsNotTheBeginningOfAName) {
  TokenSealer sealer;
  constexpr int16_t kId = 'a' << 8 | 'a';
  sealer.Replace({model::TokenKey{kId, std::string(32, 'k'), true}});
  std::string sealed = "t";
  sealer.For("aab").Seal(&sealed);
  ASSERT_TRUE(sealer.For("aab").Open(sealed).has_value());
  EXPECT_EQ(sealer.For("ab").Open("ta" + sealed.substr(1)), std::nullopt);
}

TEST(TokenSealerTest, ASingleChangedBitIsRefused) {
  const TokenSealer sealer;
  const std::string sealed = Sealed(sealer, "anonymous");
  for (size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(sealer.For("anonymous").Open(changed), std::nullopt) << bit;
  }
  for (size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_EQ(sealer.For("anonymous").Open(sealed.substr(0, size)), std::nullopt) << size;
  }
  EXPECT_EQ(sealer.For("anonymous").Open(sealed + sealed), std::nullopt);
}

TEST(TokenSealerTest, ANewKeySignsWhenItsTimeHasComeAndOldTokensLive) {
  TokenSealer sealer;
  sealer.Replace({Key(1, true)});
  const std::string old = Sealed(sealer, "p");
  sealer.Replace({Key(1, true), Key(2, false)});
  EXPECT_EQ(Sealed(sealer, "p"), old);  // it is known, and does not sign yet
  sealer.Replace({Key(2, true), Key(1, true)});
  const std::string renewed = Sealed(sealer, "p");
  EXPECT_NE(renewed, old);
  EXPECT_EQ(sealer.For("p").Open(old), kToken);
  sealer.Replace({Key(2, true)});
  EXPECT_EQ(sealer.For("p").Open(old), std::nullopt);
  EXPECT_EQ(sealer.For("p").Open(renewed), kToken);
}

// A broker that has not been able to read the keys for long must not call others' tokens forged.
TEST(TokenSealerTest, ATokenOfTheNextKeyIsToldFromOthers) {
  TokenSealer sealer;
  sealer.Replace({Key(1, true)});
  const std::string old = Sealed(sealer, "p");
  TokenSealer ahead;
  ahead.Replace({Key(1, true), Key(2, true)});
  sealer.Replace({});
  ahead.Replace({});
  EXPECT_TRUE(sealer.For("p").MayBeOfNewKey(Sealed(ahead, "p")));
  EXPECT_FALSE(sealer.For("p").MayBeOfNewKey(old));
  EXPECT_FALSE(ahead.For("p").MayBeOfNewKey(Sealed(ahead, "p")));
  ahead.Replace({Key(3, true)});
  EXPECT_FALSE(sealer.For("p").MayBeOfNewKey(Sealed(ahead, "p")));
  EXPECT_FALSE(sealer.For("p").MayBeOfNewKey(old.substr(old.size() - 18)));
}

// A key signs long after every broker has read it: what names another one is made up, or cut.
TEST(TokenSealerTest, WhoHasReadTheKeysKnowsAllThatSign) {
  TokenSealer sealer;
  TokenSealer ahead;
  sealer.Replace({Key(1, true)});
  ahead.Replace({Key(2, true)});
  EXPECT_FALSE(sealer.For("p").MayBeOfNewKey(Sealed(ahead, "p")));
  sealer.Replace({});
  EXPECT_TRUE(sealer.For("p").MayBeOfNewKey(Sealed(ahead, "p")));
  sealer.Replace({Key(1, true)});
  EXPECT_FALSE(sealer.For("p").MayBeOfNewKey(Sealed(ahead, "p")));
}

// An answer without keys must not leave the broker without any.
TEST(TokenSealerTest, NoKeysChangeNothing) {
  TokenSealer sealer;
  const std::string sealed = Sealed(sealer, "p");
  sealer.Replace({});
  EXPECT_EQ(sealer.For("p").Open(sealed), kToken);
}

// A broker that signed with a secret of its own would be understood by nobody.
TEST(TokenSealerTest, WhereTheTimeOfNoKeyHasComeAllSignWithTheOldest) {
  TokenSealer one;
  TokenSealer other;
  one.Replace({Key(4, false), Key(3, false)});
  other.Replace({Key(3, true), Key(4, false)});
  EXPECT_EQ(other.For("p").Open(Sealed(one, "p")), kToken);
}

TEST(WorkerKeyTest, NobodySharesAWorkerWithAnotherPrincipal) {
  std::set<std::string> keys;
  const std::pair<const char*, const char*> workers[] = {
      {"token:a", "w"}, {"token:b", "w"}, {"token:a", "v"}, {"token:aw", "w"}, {"token:a", "ww"},
      {"anonymous", "w"}};
  for (const auto& [principal, id] : workers) keys.insert(WorkerKey(principal, id));
  EXPECT_EQ(keys.size(), 6u);
  EXPECT_EQ(WorkerKey("token:a", "w"), WorkerKey("token:a", "w"));
  EXPECT_EQ(WorkerKey("token:a", "").size(), 0u);
  for (const std::string& key : keys) {
    EXPECT_EQ(key.size(), 43u);
    EXPECT_EQ(key.find("token"), std::string::npos);
  }
}

}  // namespace
}  // namespace skiplane::access
