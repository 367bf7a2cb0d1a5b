#include <limits>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "server/base/reason.h"
#include "server/model/lease.h"

namespace skiplane::model {
namespace {

LeaseToken SomeToken() {
  LeaseToken token;
  token.task = {.lane = 0x0102030405060708, .id = 0x1112131415161718};
  token.lease_number = 0x2122232425262728;
  for (size_t i = 0; i < token.session.size(); ++i) {
    token.session[i] = static_cast<uint8_t>(0xA0 + i);
  }
  token.attempt = 0x31323334;
  token.block = 0xF1F2F3F4;
  token.offset = 0xE1E2;
  return token;
}

void ExpectMalformed(absl::string_view text) {
  const absl::StatusOr<LeaseToken> token = DecodeLeaseToken(text);
  ASSERT_FALSE(token.ok()) << absl::CHexEscape(text);
  EXPECT_EQ(token.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(base::ReasonOf(token.status()), "INVALID_LEASE_TOKEN");
}

// Right in all but what `change` makes wrong: the checksum fits.
template <typename Change>
void ExpectMalformedWhen(const Change& change) {
  LeaseToken token = SomeToken();
  change(token);
  ExpectMalformed(EncodeLeaseToken(token));
}

TEST(LeaseTokenTest, ATokenSurvivesItsText) {
  const absl::StatusOr<LeaseToken> token = DecodeLeaseToken(EncodeLeaseToken(SomeToken()));
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(*token, SomeToken());
}

TEST(LeaseTokenTest, TheTextIsTheOneOfReleasedVersions) {
  EXPECT_EQ(absl::BytesToHexString(EncodeLeaseToken(SomeToken())),
            "01"
            "0102030405060708"
            "1112131415161718"
            "2122232425262728"
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
            "31323334"
            "f1f2f3f4"
            "e1e2"
            "7a6625b0");
}

TEST(LeaseTokenTest, ASingleChangedBitIsRefused) {
  const std::string text = EncodeLeaseToken(SomeToken());
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    ExpectMalformed(damaged);
  }
}

TEST(LeaseTokenTest, AnyOtherLengthIsRefused) {
  const std::string text = EncodeLeaseToken(SomeToken());
  for (size_t size = 0; size < text.size(); ++size) ExpectMalformed(text.substr(0, size));
  ExpectMalformed(text + '\0');
  ExpectMalformed(text + text);
}

TEST(LeaseTokenTest, TextThatWasNeverATokenIsRefused) {
  ExpectMalformed("1-42");
  ExpectMalformed(std::string(55, '\0'));
  ExpectMalformed(std::string(55, '\1'));
}

TEST(LeaseTokenTest, AVersionFromTheFutureIsRefusedEvenWithItsChecksumRight) {
  std::string text = EncodeLeaseToken(SomeToken());
  text[0] = 2;
  // CRC-32 of the changed text, from an independent implementation.
  text.replace(51, 4, absl::HexStringToBytes("ff543744"));
  ExpectMalformed(text);
}

// With its checksum right, by an independent implementation of CRC-32.
TEST(LeaseTokenTest, AnotherSpellingOfARecurringTokenIsRefused) {
  LeaseToken token = SomeToken();
  token.stage = 3;
  token.is_recurring = true;
  std::string text = EncodeLeaseToken(token);
  ASSERT_EQ(text.substr(53), absl::HexStringToBytes("0128f9aa7d"));
  text.replace(53, 5, absl::HexStringToBytes("02b1f0fbc7"));
  ExpectMalformed(text);
}

LeaseToken PackedToken(uint16_t position) {
  LeaseToken token = SomeToken();
  token.block = LeaseToken::kPackBlock;
  token.offset = position;
  return token;
}

// A broker that knows no packs must not take it for the location of a row.
TEST(LeaseTokenTest, ATokenOfAPackedTaskHasAVersionOfItsOwn) {
  const std::string text = EncodeLeaseToken(PackedToken(63));
  EXPECT_EQ(text.front(), 3);
  EXPECT_EQ(*DecodeLeaseToken(text), PackedToken(63));
  EXPECT_TRUE(PackedToken(0).IsPacked());
  EXPECT_FALSE(SomeToken().IsPacked());
}

// With their checksums right, by an independent implementation of CRC-32.
TEST(LeaseTokenTest, APositionThatNoPackHasIsRefused) {
  ExpectMalformed(EncodeLeaseToken(PackedToken(64)));
  std::string text = EncodeLeaseToken(SomeToken());
  text[0] = 3;  // a row's location as that of a pack
  text.replace(51, 4, absl::HexStringToBytes("356ac4d7"));
  ExpectMalformed(text);
  text = EncodeLeaseToken(PackedToken(1));
  text[0] = 1;  // and back
  text.replace(51, 4, absl::HexStringToBytes("8019a147"));
  ExpectMalformed(text);
}

TEST(LeaseTokenTest, NumbersThatNoLeaseHasAreRefused) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  for (const int64_t number : {int64_t{0}, int64_t{-1}, kMin}) {
    ExpectMalformedWhen([number](LeaseToken& token) { token.task.lane = number; });
    ExpectMalformedWhen([number](LeaseToken& token) { token.task.id = number; });
    ExpectMalformedWhen([number](LeaseToken& token) { token.lease_number = number; });
  }
  ExpectMalformedWhen([](LeaseToken& token) { token.attempt = 0; });
  ExpectMalformedWhen([](LeaseToken& token) { token.attempt = -1; });
}

TEST(LeaseTokenTest, TheLargestNumbersSurvive) {
  LeaseToken token = SomeToken();
  token.task.lane = token.task.id = token.lease_number = std::numeric_limits<int64_t>::max();
  token.attempt = std::numeric_limits<int32_t>::max();
  token.block = std::numeric_limits<uint32_t>::max() - 1;  // no page of a table is the last
  token.offset = std::numeric_limits<uint16_t>::max();
  EXPECT_EQ(*DecodeLeaseToken(EncodeLeaseToken(token)), token);
}

TEST(LeaseTokenTest, TheRefusalDoesNotRepeatTheToken) {
  const std::string text = EncodeLeaseToken(SomeToken()) + "x";
  EXPECT_EQ(DecodeLeaseToken(text).status().ToString().find("\xA0\xA1"), std::string::npos);
}

TEST(SessionIdTest, NewSessionsDiffer) {
  std::set<SessionId> sessions;
  for (int i = 0; i < 1000; ++i) sessions.insert(NewSessionId());
  EXPECT_EQ(sessions.size(), 1000U);
}

TEST(SessionIdTest, EveryByteOfASessionIsRandom) {
  SessionId all_bits{};
  for (int i = 0; i < 1000; ++i) {
    const SessionId session = NewSessionId();
    for (size_t b = 0; b < session.size(); ++b) all_bits[b] |= session[b];
  }
  for (const uint8_t bits : all_bits) EXPECT_EQ(bits, 0xFF);
}

}  // namespace
}  // namespace skiplane::model
