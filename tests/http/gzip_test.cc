#include "server/http/gzip.h"

#include <vector>

#include <gtest/gtest.h>

#include "server/http/limits.h"
#include "tests/support/require.h"

namespace skiplane::http {
namespace {

bool AnyRoom(size_t /*bytes*/) { return true; }

TEST(Gzip, WhatIsPackedIsUnpackedAsItWas) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{64 << 10}, size_t{300000}}) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * i >> 3);
    EXPECT_EQ(testing::Required(Gunzip(Gzip(text), size, AnyRoom)), text) << size;
  }
}

TEST(Gzip, ABombTakesNoMoreThanTheLimit) {
  const std::string bomb = Gzip(std::string(100 << 20, 'x'));
  EXPECT_LT(bomb.size(), 1 << 20);
  EXPECT_TRUE(absl::IsOutOfRange(Gunzip(bomb, 1 << 20, AnyRoom).status()));
  const std::string packed = Gzip(std::string(1000, 'x'));
  EXPECT_TRUE(absl::IsOutOfRange(Gunzip(packed, 999, AnyRoom).status()));
  EXPECT_TRUE(Gunzip(packed, 1000, AnyRoom).ok());
}

TEST(Gzip, RoomIsAskedForBeforeItIsTaken) {
  std::vector<size_t> asked;
  const auto note = [&asked](size_t bytes) {
    asked.push_back(bytes);
    return true;
  };
  const std::string text(100000, 'x');
  EXPECT_EQ(testing::Required(Gunzip(Gzip(text), 1 << 20, note)), text);
  EXPECT_LE(asked.front(), Limits{}.free_body_bytes) << "a small body always has room";
  EXPECT_GE(asked.back(), text.size());
  EXPECT_LT(asked.back(), text.size() + (64 << 10));
}

TEST(Gzip, WithoutRoomABombIsNotUnpackedFurther) {
  const std::string bomb = Gzip(std::string(100 << 20, 'x'));
  size_t asked = 0;
  const auto note = [&asked](size_t bytes) {
    asked = bytes;
    return bytes <= 1 << 20;
  };
  EXPECT_TRUE(absl::IsResourceExhausted(Gunzip(bomb, 100 << 20, note).status()));
  EXPECT_LT(asked, 2 << 20);
}

TEST(Gzip, WhatIsNoneOrNotWholeIsRefused) {
  const std::string packed = Gzip(std::string(100000, 'x'));
  std::string changed = packed;
  changed[changed.size() - 6] ^= 1;  // of the checksum
  for (const std::string& bad : {std::string("x"), std::string("plain text, no gzip"), changed,
                                 packed.substr(0, packed.size() - 1), packed + "x",
                                 packed + packed}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Gunzip(bad, 1 << 20, AnyRoom).status()))
        << bad.size();
  }
}

}  // namespace
}  // namespace skiplane::http
