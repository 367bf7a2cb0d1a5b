#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/access/limits.h"
#include "server/access/rules.h"
#include "server/access/text_file.h"
#include "server/base/bearer_token.h"
#include "server/base/status_macros.h"

namespace skiplane::access {
namespace {

using Line = std::vector<absl::string_view>;

constexpr char kWho[] = "`everyone`, `anonymous`, `group:NAME`, `token:NAME`, `certificate:NAME` "
                        "or `jwt:SUBJECT`";
constexpr char kAllowForm[] = "`allow WHO to VERBS on QUEUES`";
constexpr char kGroupForm[] = "`group NAME = PRINCIPAL, PRINCIPAL`";
constexpr char kVerbNames[] = "enqueue, lease, read, read_payload, operate, admin or all";

// A word as messages may have it, which go to the log: there may be secrets in a file that was
// taken for one of rules.
std::string Quoted(absl::string_view word) {
  constexpr size_t kMost = 40;  // less than a bearer token has
  const bool begins_one = absl::StrContains(word, base::kBearerTokenStart);  // maybe cut off
  if (begins_one || base::HoldsBearerToken(word)) return "a bearer token";
  if (absl::StrContains(word, "://")) return "an address";  // maybe of a database, with a password
  return word.size() > kMost ? "a word of more than 40 bytes" : absl::StrCat("`", word, "`");
}

absl::Status Expected(absl::string_view word, absl::string_view expected) {
  return absl::FailedPreconditionError(
      word.empty() ? absl::StrCat("expected ", expected, " at its end")
                   : absl::StrCat(Quoted(word), ": expected ", expected));
}

// The word at `place`; empty behind the last.
absl::string_view At(const Line& line, size_t place) {
  return place < line.size() ? line[place] : absl::string_view();
}

absl::Status CheckWord(const Line& line, size_t place, absl::string_view word,
                       absl::string_view form) {
  if (At(line, place) == word) return absl::OkStatus();
  return Expected(At(line, place), absl::StrCat("`", word, "`, as in ", form));
}

// The items of a list with commas, with or without spaces around them, in the words from `begin` to
// before `end`. An item that is empty or two words is told by the caller's check.
std::vector<std::string> Items(const Line& line, size_t begin, size_t end) {
  if (begin >= end) return {};
  const std::string text = absl::StrJoin(line.begin() + static_cast<std::ptrdiff_t>(begin),
                                         line.begin() + static_cast<std::ptrdiff_t>(end), " ");
  std::vector<std::string> items;
  for (const absl::string_view item : absl::StrSplit(text, ',')) {
    items.emplace_back(absl::StripAsciiWhitespace(item));
  }
  return items;
}

bool IsWho(absl::string_view word) {
  if (absl::ConsumePrefix(&word, "group:")) return IsGroupName(word);
  return word == "everyone" || IsPrincipalName(word);
}

absl::StatusOr<std::vector<Verb>> ReadVerbs(const std::vector<std::string>& items) {
  std::vector<Verb> verbs;
  for (const std::string& item : items) {
    if (item == "all") {
      for (size_t i = 0; i < kVerbs; ++i) verbs.push_back(static_cast<Verb>(i));
      continue;
    }
    const std::optional<Verb> verb = FindVerb(item);
    if (!verb.has_value()) return Expected(item, absl::StrCat(kVerbNames, ", with commas between"));
    verbs.push_back(*verb);
  }
  return verbs;
}

}  // namespace

// The lines of a file, as they become rules.
class RulesFile {
 public:
  absl::Status Add(absl::string_view text) {
    const Line line = Words(text);
    if (++count_ > kRulesMax) {
      return absl::FailedPreconditionError(absl::StrCat("more than ", kRulesMax, " rules"));
    }
    for (const absl::string_view word : line) {
      // A principal's name is what was meant. It would be repeated where rules are shown.
      if (!base::HoldsBearerToken(word)) continue;
      return Expected(word, "the name that it proves, as in `token:NAME`");
    }
    if (line[0] == "allow") return AddRule(line);
    if (line[0] == "group") return AddGroup(line);
    return Expected(line[0], absl::StrCat(kAllowForm, " or ", kGroupForm));
  }

  absl::StatusOr<Rules> Take() {
    if (!rules_.by_who_.empty()) return std::move(rules_);
    return absl::FailedPreconditionError(
        "no rule: write at least one, such as `allow token:NAME to enqueue, lease on QUEUE`; "
        "without the file everything is allowed");
  }

 private:
  absl::Status AddRule(const Line& line) {
    const std::string who(At(line, 1));
    if (!IsWho(who)) return Expected(who, kWho);
    RETURN_IF_ERROR(CheckWord(line, 2, "to", kAllowForm));
    size_t on = 3;
    while (on < line.size() && line[on] != "on") ++on;
    ASSIGN_OR_RETURN(const std::vector<Verb> verbs, ReadVerbs(Items(line, 3, on)));
    if (verbs.empty()) return Expected(At(line, 3), kVerbNames);
    RETURN_IF_ERROR(CheckWord(line, on, "on", kAllowForm));
    const std::vector<std::string> patterns = Items(line, on + 1, line.size());
    RETURN_IF_ERROR(CheckPatterns(patterns));
    rules_.is_open_ = false;
    std::shared_ptr<Grants::Queues>& queues = rules_.by_who_[who];
    if (queues == nullptr) queues = std::make_shared<Grants::Queues>();
    for (const Verb verb : verbs) {
      for (const std::string& pattern : patterns) (*queues)[static_cast<size_t>(verb)].Add(pattern);
    }
    return absl::OkStatus();
  }

  absl::Status CheckPatterns(const std::vector<std::string>& patterns) {
    if (patterns.empty()) return Expected("", "names of queues, in which * and ? may stand,");
    for (const std::string& pattern : patterns) {
      if (IsQueuePattern(pattern)) continue;
      return Expected(pattern, "names of queues, in which * and ? may stand, with commas between");
    }
    pattern_count_ += patterns.size();
    if (pattern_count_ <= kQueuePatternsMax) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("more than ", kQueuePatternsMax, " names of queues in all"));
  }

  absl::Status AddGroup(const Line& line) {
    const std::string name(At(line, 1));
    if (!IsGroupName(name)) return Expected(name, "a group's name of A-Z a-z 0-9 . _ - / @ :");
    RETURN_IF_ERROR(CheckWord(line, 2, "=", kGroupForm));
    const std::vector<std::string> members = Items(line, 3, line.size());
    if (members.empty()) return Expected("", "names of principals");
    for (const std::string& member : members) {
      if (!IsPrincipalName(member)) {
        return Expected(member, "`token:NAME`, `certificate:NAME` or `jwt:SUBJECT`, with commas "
                                "between");
      }
      rules_.groups_of_[member].push_back(name);
    }
    return absl::OkStatus();
  }

  size_t count_ = 0;
  size_t pattern_count_ = 0;
  Rules rules_;
};

absl::StatusOr<Rules> Rules::Parse(absl::string_view text, absl::string_view file) {
  RulesFile lines;
  RETURN_IF_ERROR(ForEachLine(text, file, kRulesBytesMax,
                              [&lines](absl::string_view line) { return lines.Add(line); }));
  absl::StatusOr<Rules> rules = lines.Take();
  if (rules.ok()) return rules;
  return absl::FailedPreconditionError(absl::StrCat(file, ": ", rules.status().message()));
}

}  // namespace skiplane::access
