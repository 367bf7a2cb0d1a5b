#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/limits.h"
#include "server/access/rules.h"
#include "tests/support/status_matchers.h"

namespace skiplane::access {
namespace {

using ::testing::StartsWith;
using testing::IsOk;

std::string Complaint(absl::string_view text) {
  const absl::Status status = Rules::Parse(text, "path/rules").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << text;
  return std::string(status.message());
}

TEST(RulesFileTest, SpacesAndCommasMayStandInManyWays) {
  for (const char* line :
       {"allow token:a to read,lease on x,y", "  allow\ttoken:a  to read , lease on x ,y\r",
        "allow token:a to read, lease on x, y   ", "allow token:a to read on on",
        "allow token:a,b to read on *", "allow jwt:x#y to read on *",
        "group a/b:c = token:a,jwt:b , certificate:c\nallow everyone to read on q"}) {
    EXPECT_THAT(Rules::Parse(line, "rules"), IsOk()) << line;
  }
}

TEST(RulesFileTest, WhatIsWrongIsToldWithLineAndWordAndWhatIsExpected) {
  const struct {
    const char *line, *complaint;
  } kCases[] = {
      {"deny token:a to read on *", "`deny`: expected `allow WHO to VERBS on QUEUES` or `group "},
      {"Allow token:a to read on *", "`Allow`: expected `allow WHO"},
      {"allow", "expected `everyone`, `anonymous`, `group:NAME`, `token:NAME`"},
      {"allow ann to read on *", "`ann`: expected `everyone`, `anonymous`, `group:NAME`"},
      {"allow user:ann to read on *", "`user:ann`: expected `everyone`"},
      {"allow token: to read on *", "`token:`: expected `everyone`"},
      {"allow group: to read on *", "`group:`: expected `everyone`"},
      {"allow group:a,b to read on *", "`group:a,b`: expected `everyone`"},
      {"allow token:a", "expected `to`, as in `allow WHO to VERBS on QUEUES` at its end"},
      {"allow token:a read on *", "`read`: expected `to`, as in"},
      {"allow token:a to", "expected enqueue, lease, read, read_payload, operate, admin or all at"},
      {"allow token:a to on *", "`on`: expected enqueue, lease"},
      {"allow token:a to leese on *", "`leese`: expected enqueue, lease, read"},
      {"allow token:a to READ on *", "`READ`: expected enqueue"},
      {"allow token:a to read lease on *", "`read lease`: expected enqueue, lease, read, read_pay"},
      {"allow token:a to read, on *", "expected enqueue, lease"},
      {"allow token:a to read", "expected `on`, as in `allow WHO to VERBS on QUEUES` at its end"},
      {"allow token:a to read *", "`read *`: expected enqueue"},
      {"allow token:a to read on", "expected names of queues, in which * and ? may stand, at its"},
      {"allow token:a to read on a b", "`a b`: expected names of queues"},
      {"allow token:a to read on a,,b", "expected names of queues"},
      {"allow token:a to read on a,", "expected names of queues"},
      {"allow token:a to read on [a-z]", "`[a-z]`: expected names of queues"},
      {"allow token:a to read on q # all", "`q # all`: expected names of queues"},
      {"group", "expected a group's name"},
      {"group a,b = token:a", "`a,b`: expected a group's name"},
      {"group a: token:a", "`token:a`: expected `=`, as in `group NAME = PRINCIPAL, PRINCIPAL`"},
      {"group a =", "expected names of principals at its end"},
      {"group a = ann", "`ann`: expected `token:NAME`, `certificate:NAME` or `jwt:SUBJECT`"},
      {"group a = group:b", "`group:b`: expected `token:NAME`"},
      {"group a = everyone", "`everyone`: expected `token:NAME`"},
      {"group a = token:a token:b", "`token:a token:b`: expected `token:NAME`"},
  };
  for (const auto& test : kCases) {
    EXPECT_THAT(Complaint(absl::StrCat("allow everyone to read on q\n\n", test.line, "\n")),
                StartsWith(absl::StrCat("path/rules line 3: ", test.complaint)))
        << test.line;
  }
}

TEST(RulesFileTest, AFileWithoutARuleIsRefusedSinceItWouldAllowEverything) {
  for (const char* text : {"", "\n", "# allow everyone to read on *", "group a = token:a"}) {
    EXPECT_EQ(Complaint(text),
              "path/rules: no rule: write at least one, such as `allow token:NAME to enqueue, "
              "lease on QUEUE`; without the file everything is allowed");
  }
}

TEST(RulesFileTest, AFileThatIsTooLargeIsRefused) {
  std::string text;
  for (size_t i = 0; i < kRulesMax; ++i) text += "allow token:a to read on q\n";
  EXPECT_THAT(Rules::Parse(text, "rules"), IsOk());
  EXPECT_EQ(Complaint(text + "group a = token:a"), "path/rules line 10001: more than 10000 rules");
  std::string patterns = "allow everyone to read on q\nallow everyone to read on a*";
  for (size_t i = 2; i < kQueuePatternsMax; ++i) patterns += ",a*";
  EXPECT_THAT(Rules::Parse(patterns, "rules"), IsOk());
  EXPECT_EQ(Complaint(patterns + ",a*"),
            "path/rules line 2: more than 20000 names of queues in all");
  EXPECT_EQ(Complaint(std::string(kRulesBytesMax + 1, '\n')), "path/rules: above 1048576 bytes");
}

TEST(RulesFileTest, ATokenThatStandsForItsNameIsNotRepeated) {
  const std::string token = absl::StrCat("skt_", std::string(43, 'x'));
  for (const std::string& line :
       {absl::StrCat("allow token:", token, " to read on q"),
        absl::StrCat("allow group:", token, " to read on q"),
        absl::StrCat("group g = jwt:", token), absl::StrCat("allow everyone to read on ", token)}) {
    const std::string message = Complaint(line);
    EXPECT_THAT(message, ::testing::HasSubstr("a bearer token: expected the name that it proves"));
    EXPECT_THAT(message, ::testing::Not(::testing::HasSubstr("xxxx"))) << line;
  }
  EXPECT_TRUE(Rules::Parse("allow token:skt_short to read on q", "rules").ok());
  // The file of the database, named as one of rules.
  const std::string message = Complaint("postgresql://me:pw@db/x");
  EXPECT_THAT(message, ::testing::HasSubstr("an address: expected"));
  EXPECT_THAT(message, ::testing::Not(::testing::HasSubstr("pw")));
}

// The message goes to the log.
TEST(RulesFileTest, ASecretInTheWrongFileIsNotRepeated) {
  const std::string token = "skt_" + std::string(43, 'x');
  const std::string web_token = "eyJ" + std::string(60, 'y') + ".z.w";
  for (const std::string& secret : {token, web_token}) {
    for (const std::string& text :
         {secret, "allow " + secret + " to read on *", "allow everyone to " + secret + " on *",
          "group a = " + secret, "allow everyone to read " + secret}) {
      const absl::Status status = Rules::Parse(text, "rules").status();
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << text;
      EXPECT_THAT(status.message(), ::testing::Not(::testing::HasSubstr(secret.substr(0, 20))));
      EXPECT_THAT(status.message(), ::testing::HasSubstr("rules line 1"));
    }
  }
}

}  // namespace
}  // namespace skiplane::access
