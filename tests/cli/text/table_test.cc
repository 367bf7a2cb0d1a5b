#include "client/cli/text/table.h"

#include <gtest/gtest.h>

#include "client/cli/text/progress_bar.h"
#include "client/cli/text/utf8.h"

namespace skiplane::cli {
namespace {

TEST(TableTest, NumbersAreAlignedToTheRight) {
  Table table({"QUEUE", "READY"});
  table.Add({"mail", "12"});
  table.Add({"very-long", "3"});
  EXPECT_EQ(table.Render(0),
            "QUEUE      READY\n"
            "mail          12\n"
            "very-long      3\n");
}

TEST(TableTest, LinesAreCutToTheWidthBetweenCharacters) {
  Table table({});
  table.Add({"a", "äöüäöüäöü"});
  EXPECT_EQ(table.Render(8), "a  äöüä…\n");
  EXPECT_EQ(table.Render(80), "a  äöüäöüäöü\n");
}

TEST(TableTest, StatesAndFailuresAreColouredWhenThatIsWanted) {
  Table table({"TASK", "STATE", "FAILED"});
  table.Add({"1", "failed", "0"});
  table.Add({"2", "ready", "3"});
  EXPECT_EQ(table.Render(0, /*is_colored=*/true),
            "TASK  STATE   FAILED\n"
            "   1  \x1b[31mfailed\x1b[0m       0\n"
            "   2  ready        \x1b[31m3\x1b[0m\n");
  EXPECT_EQ(table.Render(0).find('\x1b'), std::string::npos);
}

TEST(TableTest, FactsAreColouredByTheirNames) {
  Table facts({});
  facts.Add({"state", "lost"});
  facts.Add({"name", "failed"});
  facts.Add({"state", "succeeded"});
  facts.Add({"counts.failed_count", "12"});
  EXPECT_EQ(facts.Render(0, /*is_colored=*/true),
            "state                \x1b[31mlost\x1b[0m\n"
            "name                 failed\n"
            "state                \x1b[32msucceeded\x1b[0m\n"
            "counts.failed_count  \x1b[31m12\x1b[0m\n");
}

TEST(TableTest, ACellThatIsCutOffHasNoColour) {
  Table table({"STATE", "OUTCOME"});
  table.Add({"failed", "lost"});
  EXPECT_EQ(table.Render(10, /*is_colored=*/true),
            "STATE   O…\n\x1b[31mfailed\x1b[0m  l…\n");
  EXPECT_EQ(table.Render(6, /*is_colored=*/true), "STATE…\nfaile…\n");
}

TEST(TableTest, WhatATerminalWouldObeyIsNotPrinted) {
  EXPECT_EQ(OneLine("a\x1b[31mb\nc\td\x7f"), "a?[31mb c d?");
  EXPECT_EQ(OneLine("\xC2\x9B" "31m"), "?31m");
  // U+202E turns what follows around, U+2028 is a line break to some.
  EXPECT_EQ(OneLine("a\xE2\x80\xAE" "b\xE2\x80\xA8" "c\xE2\x81\xA9" "d"), "a?b?c?d");
  EXPECT_EQ(OneLine("\xE2\x80\xA6\xE2\x80\x9C"), "\xE2\x80\xA6\xE2\x80\x9C");
  EXPECT_EQ(OneLine("\xff\xfe ok"), "?? ok");
}

TEST(TableTest, OverlongFormsAndSurrogatesAreNoUtf8) {
  EXPECT_TRUE(Utf8IsValid("aä€😀\n"));
  for (const char* const text : {"\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                 "\xE2\x82"}) {
    EXPECT_FALSE(Utf8IsValid(text));
  }
}

TEST(TableTest, ThousandsAreSetApart) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(-1234), "-1,234");
}

TEST(TableTest, AProgressLineNeverGoesBeyondTheEnd) {
  EXPECT_EQ(ProgressLine(50, 100, "looked at"),
            "[###############---------------]  50%  50 of about 100 looked at");
  EXPECT_EQ(ProgressLine(150, 100, "x").find("100%") == std::string::npos, false);
  EXPECT_EQ(ProgressLine(1500, 0, "tasks"), "1,500 tasks");
}

}  // namespace
}  // namespace skiplane::cli
