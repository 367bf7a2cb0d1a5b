#include "client/cli/live/screen.h"

#include <gtest/gtest.h>

namespace skiplane::cli {
namespace {

TEST(ScreenTest, KeysAreTakenOneByOne) {
  std::string input = "\x1b[A\x1bOB\x1b[5~\x1b[6~q";
  for (const Key key : {Key::kUp, Key::kDown, Key::kPageUp, Key::kPageDown, Key::kLetter}) {
    EXPECT_EQ(NextStroke(input).key, key);
  }
  EXPECT_EQ(input, "");
}

// The letters of an unknown sequence are no letters that somebody typed.
TEST(ScreenTest, AnUnknownSequenceIsTakenAsAWhole) {
  std::string input = "\x1b[1;5Cf";
  EXPECT_EQ(NextStroke(input).key, Key::kNone);
  EXPECT_EQ(NextStroke(input).letter, 'f');
}

TEST(ScreenTest, WhatIsCutOffIsNoKeyAndEnds) {
  for (std::string input : {"\x1b", "\x1b[", "\x1b[1;", "\xff", "\n"}) {
    EXPECT_EQ(NextStroke(input).key, Key::kNone);
    EXPECT_EQ(input, "");
  }
}

}  // namespace
}  // namespace skiplane::cli
