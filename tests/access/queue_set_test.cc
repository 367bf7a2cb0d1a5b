#include "server/access/queue_set.h"

#include <string>

#include "gtest/gtest.h"

namespace skiplane::access {
namespace {

bool Has(absl::string_view pattern, absl::string_view queue) {
  QueueSet set;
  set.Add(pattern);
  return set.Contains(queue);
}

TEST(QueueSetTest, AStarIsAnyTextAndAQuestionMarkOneByte) {
  const struct {
    const char *pattern, *queue;
    bool is_in;
  } kCases[] = {
      {"a", "a", true},          {"a", "A", false},        {"a", "ab", false},
      {"a", "", false},          {"a.b", "a-b", false},    {"*", "any", true},
      {"**", "any", true},       {"a*", "a", true},        {"a*", "abc", true},
      {"a*", "ba", false},       {"*a", "cba", true},      {"*a", "cbab", false},
      {"*a*", "cbab", true},     {"*a*", "cb", false},     {"a?c", "abc", true},
      {"a?c", "ac", false},      {"a?c", "abbc", false},   {"?", "a", true},
      {"?", "ab", false},        {"?*", "a", true},        {"*?", "ab", true},
      {"??*", "a", false},       {"a*b*c", "axbxc", true}, {"a*b*c", "axcxb", false},
      {"a*bc", "abcbcbc", true}, {"a*bd", "abcbcbc", false}, {"*-x-*", "a-x-b-x-c", true},
      {"a*?", "a", false},       {"a*a", "a", false},      {"a*a", "aa", true},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(Has(test.pattern, test.queue), test.is_in) << test.pattern << " " << test.queue;
  }
}

TEST(QueueSetTest, ASetIsAllOfItsPatterns) {
  QueueSet set;
  EXPECT_TRUE(set.is_empty());
  EXPECT_FALSE(set.Contains("a"));
  set.Add("a");
  EXPECT_FALSE(set.is_empty());
  set.Add("b-*");
  set.Add("b-*");
  EXPECT_TRUE(set.Contains("a"));
  EXPECT_TRUE(set.Contains("b-1"));
  EXPECT_FALSE(set.Contains("c"));
  EXPECT_FALSE(set.has_all());
  set.Add("*");
  EXPECT_TRUE(set.has_all());
  EXPECT_TRUE(set.Contains("c"));
}

TEST(QueueSetTest, APatternThatIsHardToMatchTakesNoTime) {
  std::string pattern, queue(128, 'a');
  for (int i = 0; i < 63; ++i) pattern += "*a";
  EXPECT_TRUE(Has(pattern, queue));
  EXPECT_FALSE(Has(pattern + "*b", queue));  // a matcher that tries all ways would never end
}

TEST(QueueSetTest, APatternHasOnlyWhatANameMayHaveAndItsTwoSigns) {
  for (const char* text : {"a", "A-z_0.9", "*", "?", "-a"}) EXPECT_TRUE(IsQueuePattern(text));
  for (const char* text : {"", "a b", "a,b", "[a]", "\xc3\xa9", "a/b"}) {
    EXPECT_FALSE(IsQueuePattern(text)) << text;
  }
  EXPECT_TRUE(IsQueuePattern(std::string(128, 'a')));
  EXPECT_FALSE(IsQueuePattern(std::string(129, 'a')));
}

}  // namespace
}  // namespace skiplane::access
