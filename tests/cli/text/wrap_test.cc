#include "client/cli/text/wrap.h"

#include <gtest/gtest.h>

namespace skiplane::cli {
namespace {

TEST(WrapTest, LinesEndBetweenWords) {
  EXPECT_EQ(Wrap("one two three", 7), "one two\nthree");
  EXPECT_EQ(Wrap("immeasurable", 5), "immeasurable");
  EXPECT_EQ(Wrap("", 5), "");
}

TEST(WrapTest, ParagraphsStay) { EXPECT_EQ(Wrap("a b\n\nc d", 3), "a b\n\nc d"); }

TEST(WrapTest, ASentenceEndsAtItsStop) {
  EXPECT_EQ(FirstSentence("Lists queues. By name."), "Lists queues");
  EXPECT_EQ(FirstSentence("Lists queues"), "Lists queues");
}

}  // namespace
}  // namespace skiplane::cli
