#include "server/model/request_key.h"

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"

namespace skiplane::model {
namespace {

std::string Hex(const RequestKey& key) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(key.hash.data()), key.hash.size()));
}

// What sha256sum says of eight bytes 00…07 and "order-1234".
TEST(RequestKeyTest, IsHalfOfTheHashOfLaneAndId) {
  EXPECT_EQ(Hex(RequestKeyOf(7, "order-1234")), "99ff361fbc5144a0711f3fab40d68c5f");
}

TEST(RequestKeyTest, TheSameIdInAnotherLaneIsAnother) {
  const RequestKey one = RequestKeyOf(1, "a");
  const RequestKey other = RequestKeyOf(2, "a");
  EXPECT_EQ(one.head, other.head);
  EXPECT_NE(one.hash, other.hash);
}

TEST(RequestKeyTest, TheHeadKeepsTheOrderOfIds) {
  EXPECT_LT(RequestKeyOf(1, "01890000-aaaa").head, RequestKeyOf(1, "01890001-0000").head);
  EXPECT_EQ(RequestKeyOf(1, "01890001-0000").head, RequestKeyOf(1, "01890001-ffff").head);
}

TEST(RequestKeyTest, ANumberIsTheFirstEightBytes) {
  EXPECT_EQ(LeadingInt64(absl::string_view("\0\0\0\0\0\0\1\2\3", 9)), 258);
  EXPECT_EQ(LeadingInt64("\x7f"), 0x7f00000000000000);
  EXPECT_EQ(LeadingInt64("\xff\xff\xff\xff\xff\xff\xff\xff"), -1);
  EXPECT_EQ(LeadingInt64(""), 0);
}

}  // namespace
}  // namespace skiplane::model
