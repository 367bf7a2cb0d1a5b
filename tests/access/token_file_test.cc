#include "server/access/token_file.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/limits.h"
#include "server/access/new_token.h"
#include "tests/support/status_matchers.h"

namespace skiplane::access {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

// SHA-256 of "abc", from FIPS 180-2.
constexpr char kHexOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::string Hash(absl::string_view token) {
  const Digest digest = Sha256(token);
  const absl::string_view bytes(reinterpret_cast<const char*>(digest.data()), digest.size());
  return absl::StrCat("sha256:", absl::BytesToHexString(bytes));
}

std::string NameOf(const TokenTable& table, absl::string_view token) {
  const std::shared_ptr<const Principal> found = table.Find(token);
  return found == nullptr ? "" : found->name;
}

TEST(TokenFileTest, ATokenIsFoundByItsHash) {
  ASSERT_OK_AND_ASSIGN(const TokenTable table,
                       TokenTable::Parse(absl::StrCat("# tokens\n\n  \t\ninvoicer  sha256:",
                                                      kHexOfAbc, "\tbatch,billing \r\n"),
                                         "tokens"));
  const std::shared_ptr<const Principal> found = table.Find("abc");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "token:invoicer");
  EXPECT_THAT(found->groups, ElementsAre("batch", "billing"));
  EXPECT_EQ(table.Find("abcd"), nullptr);
  EXPECT_EQ(table.Find(""), nullptr);
  EXPECT_EQ(table.Find(kHexOfAbc), nullptr);  // the file's own text is no token
}

TEST(TokenFileTest, CapitalDigitsAreTheSameHash) {
  const std::string upper = absl::AsciiStrToUpper(kHexOfAbc);
  ASSERT_OK_AND_ASSIGN(const TokenTable table,
                       TokenTable::Parse(absl::StrCat("a sha256:", upper), "tokens"));
  EXPECT_EQ(NameOf(table, "abc"), "token:a");
  EXPECT_THAT(TokenTable::Parse(absl::StrCat("a sha256:", upper, "\nb sha256:", kHexOfAbc), "t"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(TokenFileTest, WhileATokenIsReplacedBothAreTheSamePrincipal) {
  ASSERT_OK_AND_ASSIGN(
      const TokenTable table,
      TokenTable::Parse(absl::StrCat("a ", Hash("old"), " x,y\na ", Hash("new"), " y,x"), "t"));
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(NameOf(table, "old"), "token:a");
  EXPECT_EQ(table.Find("old"), table.Find("new"));
}

TEST(TokenFileTest, ANameWithACommaCouldStandInNoGroup) {
  EXPECT_THAT(TokenTable::Parse(absl::StrCat("x,y ", Hash("abc")), "t"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

// It would lock everybody out, as a file that was emptied by accident.
TEST(TokenFileTest, AFileWithoutATokenIsRefused) {
  for (const char* text : {"", "# none\n", "\n\n"}) {
    const absl::Status status = TokenTable::Parse(text, "tokens").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(), HasSubstr("tokens: no token"));
  }
}

TEST(TokenFileTest, ABadLineIsToldByItsNumberAndNeverByItsText) {
  const std::string good = absl::StrCat("SECRET ", Hash("abc"));
  const struct {
    std::string line, message;
  } kCases[] = {
      {"SECRET", "must be `NAME sha256:HEX [group,group...]`"},
      {absl::StrCat(good, " a b"), "must be `NAME sha256:HEX [group,group...]`"},
      {absl::StrCat("S\xc3\xa9", " ", Hash("abc")), "the first word must be a name"},
      {"SECRET SECRET", "the second word must be sha256: and 64 hexadecimal digits"},
      {"SECRET md5:SECRET", "the second word"},
      {good.substr(0, good.size() - 1), "the second word"},
      {absl::StrCat(good, "0"), "the second word"},
      {absl::StrCat(good.substr(0, good.size() - 1), "g"), "the second word"},
      {absl::StrCat(good, " SECRET,"), "the third word"},
      {absl::StrCat(good, " SECRET,S=T"), "the third word"},
      {absl::StrCat(good, " g", absl::StrJoin(std::vector<int>(kGroupsPerPrincipalMax, 1), ","),
                    ",1"), "the third word"},
  };
  for (const auto& test : kCases) {
    const absl::Status status =
        TokenTable::Parse(absl::StrCat("# first\n", test.line, "\n"), "path/tokens").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << test.line;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("path/tokens line 2: ", test.message)));
    EXPECT_FALSE(absl::StrContains(status.message(), "SECRET")) << status;
  }
}

TEST(TokenFileTest, AHashThatStandsTwiceIsRefused) {
  for (const absl::string_view name : {"a", "b"}) {
    const absl::Status status =
        TokenTable::Parse(absl::StrCat("a ", Hash("x"), "\n", name, " ", Hash("x")), "t").status();
    EXPECT_EQ(status.message(), "t line 2: this hash stands in an earlier line already");
  }
}

TEST(TokenFileTest, LinesOfOneNameWithOtherGroupsAreRefused) {
  EXPECT_EQ(TokenTable::Parse(absl::StrCat("a ", Hash("x"), " g\na ", Hash("y")), "t")
                .status().message(),
            "t line 2: another line of this name has other groups");
}

TEST(TokenFileTest, AFileThatIsTooLargeIsRefused) {
  EXPECT_FALSE(TokenTable::Parse(std::string(kTokenFileBytesMax + 1, '#'), "t").ok());
  std::string text;
  for (size_t i = 0; i < kTokensMax; ++i) absl::StrAppend(&text, "a ", Hash(absl::StrCat(i)), "\n");
  EXPECT_TRUE(TokenTable::Parse(text, "t").ok());
  EXPECT_EQ(TokenTable::Parse(absl::StrCat(text, "a ", Hash("one more")), "t").status().message(),
            "t line 10001: more than 10000 tokens");
}

TEST(NewTokenTest, AMadeTokenIsFoundByItsLine) {
  ASSERT_OK_AND_ASSIGN(const NewToken made, MakeToken("invoicer", {"a", "b"}));
  ASSERT_OK_AND_ASSIGN(const TokenTable table, TokenTable::Parse(made.line, "t"));
  EXPECT_EQ(NameOf(table, made.token), "token:invoicer");
  EXPECT_THAT(table.Find(made.token)->groups, ElementsAre("a", "b"));
  EXPECT_FALSE(absl::StrContains(made.line, made.token));
  ASSERT_OK_AND_ASSIGN(const NewToken without, MakeToken("x", {}));
  EXPECT_TRUE(TokenTable::Parse(without.line, "t").ok());
}

TEST(NewTokenTest, TokensAre256RandomBitsBehindTheirPrefix) {
  std::set<std::string> tokens;
  std::string all_bits(32, '\0');
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK_AND_ASSIGN(const NewToken made, MakeToken("x", {}));
    ASSERT_EQ(made.token.size(), 4U + 43U);
    EXPECT_EQ(made.token.substr(0, 4), "skt_");
    std::string bits;
    ASSERT_TRUE(absl::WebSafeBase64Unescape(made.token.substr(4), &bits));
    for (size_t b = 0; b < bits.size(); ++b) all_bits[b] = static_cast<char>(all_bits[b] | bits[b]);
    tokens.insert(made.token);
  }
  EXPECT_EQ(tokens.size(), 1000U);
  EXPECT_EQ(all_bits, std::string(32, '\xff'));
}

TEST(NewTokenTest, WhatCouldNotStandInTheFileIsRefused) {
  for (const std::string& name : {std::string(), std::string("a b"), std::string("#a"),
                                  std::string("a\nb"), std::string(250, 'x')}) {
    EXPECT_THAT(MakeToken(name, {}), StatusIs(absl::StatusCode::kInvalidArgument)) << name;
  }
  EXPECT_THAT(MakeToken("a", {"b,c"}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(MakeToken("a", {""}), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace skiplane::access
