#include "server/broker/settle/error_fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace skiplane::broker {
namespace {

std::string Print(const std::string& text, const std::string& type = "IOError") {
  return ErrorFingerprint({.type = type, .text = text, .fingerprint = ""});
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Groups are found by it, also those of older brokers.
TEST(ErrorFingerprintTest, NeverChanges) {
  EXPECT_EQ(Print("no file /tmp/17.txt"), "36261910de6b4a6b");
  EXPECT_EQ(Print("", ""), "33a3a224ce6293cf");
}

TEST(ErrorFingerprintTest, IsSixteenHexadecimalDigits) {
  for (const std::string& text : {std::string(), std::string("x"), std::string(70000, '\xff')}) {
    EXPECT_THAT(Print(text), ::testing::MatchesRegex("[0-9a-f]{16}"));
  }
}

TEST(ErrorFingerprintTest, WhatVariesMakesNoDifference) {
  const Pairs same = {
      {"no row 7", "no row 12345"},
      {"balance is -5", "balance is 5"},
      {"at 10.0.0.1:5432", "at 192.168.17.254:80"},
      {"task 550e8400-e29b-41d4-a716-446655440000 gone",
       "task 00000000-0000-0000-0000-000000000000 gone"},
      {"segfault at 0x7ffdeadbeef0", "segfault at 0x10"},
      {"since 2026-11-21T14:00:00Z", "since 1999-01-02T03:04:05Z"},
      {"/tmp/part17/a.csv", "/tmp/part9/a.csv"},
      {"no user 'ada'", "no user 'grace hopper'"},
      {"key \"a\" is taken", "key \"\" is taken"},
      {"line one\n  line two", "line one line two"},
      {"a\t\tb", "a b"},
  };
  for (const auto& [a, b] : same) EXPECT_EQ(Print(a), Print(b)) << a << " / " << b;
}

TEST(ErrorFingerprintTest, WhatTellsTheFaultMakesOne) {
  const Pairs different = {
      {"no such file", "no such host"},
      {"a: b", "a; b"},
      {"key is taken", "key 5 is taken"},
      {"no user 'ada'", "no user ada"},
      // A quote after a letter is an apostrophe, and so is one that is not closed soon.
      {"can't open the file, don't ask", "can't read the file, don't ask"},
      {"'" + std::string(300, 'a') + " x'", "'" + std::string(300, 'b') + " x'"},
      {"Gr\xc3\xbc\xc3\x9f\x65", "Gr\xc3\xbc\x73\x73\x65"},
  };
  for (const auto& [a, b] : different) EXPECT_NE(Print(a), Print(b)) << a << " / " << b;
}

TEST(ErrorFingerprintTest, TypesThatDifferInADigitAreDifferentFaults) {
  EXPECT_NE(Print("x", "HTTP404"), Print("x", "HTTP500"));
  EXPECT_NE(Print("x", "ORA-00001"), Print("x", "ORA-01017"));
  EXPECT_NE(Print("x", "S3Error"), Print("x", "OAuth2Error"));
}

TEST(ErrorFingerprintTest, TheTypeCounts) {
  EXPECT_NE(Print("x", "IOError"), Print("x", "KeyError"));
  EXPECT_NE(Print("b", "a"), Print("", "a b"));
  EXPECT_NE(Print("b", "a"), Print("", "a\nb"));
}

TEST(ErrorFingerprintTest, OnlyTheFirstFourKibibytesCount) {
  const std::string begin(4096, 'x');
  EXPECT_EQ(Print(begin + " one"), Print(begin + " other"));
  EXPECT_NE(Print(begin.substr(0, 4000) + " one"), Print(begin.substr(0, 4000) + " other"));
}

TEST(ErrorFingerprintTest, AnyBytesWillDo) {
  EXPECT_EQ(Print(std::string("\0\xff\x80", 3)), Print(std::string("\0\xff\x80", 3)));
  EXPECT_NE(Print(std::string("\0a", 2)), Print("a"));
}

// The worker's own fingerprint is not asked for here.
TEST(ErrorFingerprintTest, TheFingerprintIsIgnored) {
  EXPECT_EQ(ErrorFingerprint({.type = "T", .text = "x", .fingerprint = "mine"}), Print("x", "T"));
}

}  // namespace
}  // namespace skiplane::broker
