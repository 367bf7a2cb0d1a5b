#include "server/access/rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/require.h"
#include "tests/support/status_matchers.h"

namespace skiplane::access {
namespace {

using ::testing::ElementsAre;
using testing::Required;

constexpr Verb kAll[] = {Verb::kEnqueue,     Verb::kLease,   Verb::kRead,
                         Verb::kReadPayload, Verb::kOperate, Verb::kAdmin};

Rules Parsed(absl::string_view text) { return Required(Rules::Parse(text, "rules")); }

Principal Named(const std::string& name, const std::vector<std::string>& groups = {}) {
  return {.name = name, .groups = groups};
}

// The names of the verbs that are allowed on the queue.
std::vector<std::string> Allowed(const Rules& rules, const Principal& who,
                                 absl::string_view queue) {
  std::vector<std::string> names;
  for (const Verb verb : kAll) {
    if (rules.Allows(who, verb, queue)) names.emplace_back(VerbName(verb));
  }
  return names;
}

TEST(RulesTest, GrantsTellTheirPatterns) {
  const Rules rules = Parsed(R"(
group g = token:a
allow group:g to read on b-*, a
allow token:a to read, lease on a, c
allow everyone to lease on *
)");
  const Grants grants = rules.Resolve(Named("token:a"));
  EXPECT_THAT(grants.PatternsOf(Verb::kRead), ElementsAre("a", "b-*", "c"));
  EXPECT_THAT(grants.PatternsOf(Verb::kLease), ElementsAre("*", "a", "c"));
  EXPECT_THAT(grants.PatternsOf(Verb::kAdmin), ElementsAre());
  EXPECT_THAT(Rules().Resolve(Named("anonymous")).PatternsOf(Verb::kAdmin), ElementsAre("*"));
}

TEST(RulesTest, TheExampleSaysWhatItSays) {
  const Rules rules = Parsed(R"(
# producers and workers of billing
group billing = token:invoicer, certificate:billing.internal
allow group:billing to enqueue, lease on billing-*
allow token:dashboard to read on *
allow jwt:ann@example.org to operate, read, read_payload on *
allow group:ops to admin on *
)");
  for (const char* name : {"token:invoicer", "certificate:billing.internal"}) {
    EXPECT_THAT(Allowed(rules, Named(name), "billing-2026"), ElementsAre("enqueue", "lease"));
    EXPECT_THAT(Allowed(rules, Named(name), "billing"), ElementsAre());
    EXPECT_THAT(Allowed(rules, Named(name), "other"), ElementsAre());
  }
  EXPECT_THAT(Allowed(rules, Named("token:dashboard"), "any"), ElementsAre("read"));
  EXPECT_THAT(Allowed(rules, Named("jwt:ann@example.org"), "any"),
              ElementsAre("read", "read_payload", "operate"));
  EXPECT_THAT(Allowed(rules, Named("jwt:ben", {"ops", "x"}), "any"), ElementsAre("admin"));
  EXPECT_THAT(Allowed(rules, Named("jwt:ben", {"op", "opss"}), "any"), ElementsAre());
}

TEST(RulesTest, WithoutAFileEverythingIsAllowed) {
  EXPECT_EQ(Allowed(Rules(), Named("anonymous"), "any").size(), kVerbs);
  EXPECT_TRUE(Rules().Resolve(Named("token:x")).AllowsAll(Verb::kAdmin));
}

TEST(RulesTest, OneRuleDeniesWhatItDoesNotAllow) {
  const Rules rules = Parsed("allow token:a to read on q");
  EXPECT_THAT(Allowed(rules, Named("token:a"), "q"), ElementsAre("read"));
  EXPECT_THAT(Allowed(rules, Named("token:a"), "p"), ElementsAre());
  EXPECT_THAT(Allowed(rules, Named("token:b"), "q"), ElementsAre());
  EXPECT_THAT(Allowed(rules, Named("anonymous"), "q"), ElementsAre());
}

TEST(RulesTest, ANameIsTheWholeNameWithItsSource) {
  const Rules rules = Parsed("allow token:a to all on *");
  for (const char* name : {"certificate:a", "jwt:a", "token:A", "token:a2", "token:", "a"}) {
    EXPECT_THAT(Allowed(rules, Named(name), "q"), ElementsAre()) << name;
  }
  // What comes from a credential is never taken for a word of the file.
  const Rules of_group = Parsed("allow group:ops to all on *");
  EXPECT_THAT(Allowed(of_group, Named("jwt:group:ops"), "q"), ElementsAre());
  const Rules of_name = Parsed("allow token:a to all on *");
  EXPECT_THAT(Allowed(of_name, Named("jwt:x", {"token:a"}), "q"), ElementsAre());
}

TEST(RulesTest, EveryoneIsEverybody) {
  const Rules rules = Parsed("allow everyone to read on public-?, status");
  for (const char* name : {"anonymous", "token:a", "jwt:b"}) {
    EXPECT_THAT(Allowed(rules, Named(name), "status"), ElementsAre("read"));
    EXPECT_THAT(Allowed(rules, Named(name), "public-1"), ElementsAre("read"));
    EXPECT_THAT(Allowed(rules, Named(name), "public-10"), ElementsAre());
  }
  const Rules others = Parsed("allow anonymous to read on q");
  EXPECT_THAT(Allowed(others, Named("anonymous"), "q"), ElementsAre("read"));
  EXPECT_THAT(Allowed(others, Named("token:a"), "q"), ElementsAre());
}

TEST(RulesTest, AllIsEveryVerbAndEachVerbStandsForItself) {
  EXPECT_EQ(Allowed(Parsed("allow token:a to all on q"), Named("token:a"), "q").size(), kVerbs);
  for (const Verb verb : kAll) {
    const Rules rules = Parsed(absl::StrCat("allow token:a to ", VerbName(verb), " on q"));
    EXPECT_THAT(Allowed(rules, Named("token:a"), "q"),
                ElementsAre(std::string(VerbName(verb))));
  }
}

TEST(RulesTest, RulesAddUpWhateverTheirOrder) {
  for (const char* text :
       {"group g = token:a\nallow group:g to read on q\nallow token:a to lease on q",
        "allow token:a to lease on q\nallow group:g to read on q\ngroup g = token:a"}) {
    EXPECT_THAT(Allowed(Parsed(text), Named("token:a"), "q"), ElementsAre("lease", "read"));
  }
}

TEST(RulesTest, GroupsOfTheFileAndOfCredentialsAreTheSameGroups) {
  const Rules rules = Parsed(
      "group ops = token:a\ngroup ops = token:b\nallow group:ops to admin on *\n"
      "allow group:audit to read on *");
  EXPECT_THAT(Allowed(rules, Named("token:a", {"audit"}), "q"), ElementsAre("read", "admin"));
  EXPECT_THAT(Allowed(rules, Named("token:b"), "q"), ElementsAre("admin"));
  EXPECT_THAT(Allowed(rules, Named("jwt:c", {"ops"}), "q"), ElementsAre("admin"));
}

TEST(RulesTest, AListCanAskWhetherAnythingOrEverythingIsAllowed) {
  const Grants grants = Parsed(
      "allow token:a to read on x-*\nallow token:a to lease on *\n"
      "allow token:a to admin on q").Resolve(Named("token:a"));
  EXPECT_TRUE(grants.AllowsSome(Verb::kRead));
  EXPECT_FALSE(grants.AllowsAll(Verb::kRead));
  EXPECT_TRUE(grants.AllowsSome(Verb::kLease));
  EXPECT_TRUE(grants.AllowsAll(Verb::kLease));
  EXPECT_TRUE(grants.AllowsSome(Verb::kAdmin));
  EXPECT_FALSE(grants.AllowsSome(Verb::kEnqueue));
  EXPECT_FALSE(grants.AllowsAll(Verb::kEnqueue));
}

TEST(RulesTest, GrantsOutliveTheirRules) {
  auto rules = std::make_unique<Rules>(Parsed("allow token:a to read on of-a-long-long-name-*"));
  const Grants grants = rules->Resolve(Named("token:a"));
  rules.reset();
  EXPECT_TRUE(grants.Allows(Verb::kRead, "of-a-long-long-name-1"));
}

}  // namespace
}  // namespace skiplane::access
