#include "server/rpc/call/text.h"

#include <gtest/gtest.h>

#include "server/rpc/call/field.h"

namespace skiplane::rpc {
namespace {

TEST(CutText, KeepsWhatFits) {
  EXPECT_EQ(CutText("", 0), "");
  EXPECT_EQ(CutText("abc", 3), "abc");
  EXPECT_EQ(CutText("abcd", 3), "abc");
}

TEST(CutText, NeverCutsACharacter) {
  const std::string text = "a\xe2\x82\xac";  // a and the euro sign
  EXPECT_EQ(CutText(text, 4), text);
  EXPECT_EQ(CutText(text, 3), "a");
  EXPECT_EQ(CutText(text, 2), "a");
  EXPECT_EQ(CutText("\xe2\x82\xac", 2), "");
}

TEST(CutText, OfBytesThatAreNoTextKeepsAsManyAsFit) {
  const std::string bytes(8, '\x80');
  EXPECT_EQ(CutText(bytes, 5), bytes.substr(0, 5));
}

TEST(Field, SpellsItsPath) {
  const std::string key = "a\"b";
  EXPECT_EQ((Field{"queue"}).Path(), "queue");
  EXPECT_EQ((Field{"priority", "tasks", 3}).Path(), "tasks[3].priority");
  EXPECT_EQ((Field{"", "settings.retry.delays", 1}).Path(), "settings.retry.delays[1]");
  EXPECT_EQ((Field{"headers", "tasks", 3, &key}).Path(), "tasks[3].headers[\"a\\\"b\"]");
}

}  // namespace
}  // namespace skiplane::rpc
