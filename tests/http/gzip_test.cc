#include "server/http/gzip.h"

#include <gtest/gtest.h>

#include "tests/support/require.h"

namespace skiplane::http {
namespace {

TEST(Gzip, WhatIsPackedIsUnpackedAsItWas) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{64 << 10}, size_t{300000}}) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * i >> 3);
    EXPECT_EQ(testing::Required(Gunzip(Gzip(text), size)), text) << size;
  }
}

TEST(Gzip, ABombTakesNoMoreThanTheLimit) {
  const std::string bomb = Gzip(std::string(100 << 20, 'x'));
  EXPECT_LT(bomb.size(), 1 << 20);
  EXPECT_TRUE(absl::IsOutOfRange(Gunzip(bomb, 1 << 20).status()));
  const std::string packed = Gzip(std::string(1000, 'x'));
  EXPECT_TRUE(absl::IsOutOfRange(Gunzip(packed, 999).status()));
  EXPECT_TRUE(Gunzip(packed, 1000).ok());
}

TEST(Gzip, WhatIsNoneOrNotWholeIsRefused) {
  const std::string packed = Gzip(std::string(100000, 'x'));
  std::string changed = packed;
  changed[changed.size() - 6] ^= 1;  // of the checksum
  for (const std::string& bad : {std::string("x"), std::string("plain text, no gzip"), changed,
                                 packed.substr(0, packed.size() - 1), packed + "x",
                                 packed + packed}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Gunzip(bad, 1 << 20).status())) << bad.size();
  }
}

}  // namespace
}  // namespace skiplane::http
