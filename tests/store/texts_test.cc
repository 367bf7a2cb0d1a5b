#include "server/store/texts.h"

#include "gmock/gmock.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(HeadersTest, ComeBackAsTheyWere) {
  const model::Headers headers = {{"", ""}, {"a\"b\\", "line\nbreak\t\x01"}, {"ключ", "☃🎿"}};
  EXPECT_EQ(HeadersFromJson(HeadersToJson(headers)), headers);
}

TEST(HeadersTest, NoneAreAnEmptyObject) {
  EXPECT_EQ(HeadersToJson({}), "{}");
  EXPECT_THAT(HeadersFromJson("{}"), IsEmpty());
}

TEST(HeadersTest, MembersThatAreNoStringsAreLeftOut) {
  EXPECT_THAT(HeadersFromJson(R"({"a": 1, "b": "two", "c": null, "d": {"e": "f"}})"),
              ElementsAre(Pair("b", "two")));
}

TEST(HeadersTest, WhatIsNoObjectHasNone) {
  for (const char* const text : {"", "null", "[\"a\"]", "\"a\"", "{", "{\"a\": \"b\"} x"}) {
    EXPECT_THAT(HeadersFromJson(text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace skiplane::store
