// The transitions that the head of belief.h lists and docs/ARCHITECTURE.md draws are those that
// random calls find: no more, and no fewer. tests/tidy compares them with this table.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/broker/schedule/belief.h"

namespace skiplane::broker {
namespace {

using base::SteadyTime;
using std::chrono::seconds;
using Kind = Belief::Kind;

const SteadyTime kNow{std::chrono::hours(1)};
constexpr seconds kEmptyFor{4};

struct Transition {
  Kind from;
  const char* cause;
  Kind to;
};

const Transition kTransitions[] = {
    {Kind::kUnknown, "Probed, nothing ready", Kind::kEmpty},
    {Kind::kUnknown, "Announced", Kind::kAtLeast},
    {Kind::kUnknown, "Due", Kind::kAtLeast},
    {Kind::kUnknown, "Probed, some ready", Kind::kAtLeast},
    {Kind::kUnknown, "Unasked", Kind::kAtLeast},
    {Kind::kUnknown, "Leased, cut by bytes", Kind::kAtLeast},
    {Kind::kUnknown, "Leased, fewer but more announced", Kind::kAtLeast},
    {Kind::kEmpty, "its time has come", Kind::kUnknown},
    {Kind::kEmpty, "Invalidate", Kind::kUnknown},
    {Kind::kEmpty, "Forget", Kind::kUnknown},
    {Kind::kEmpty, "Leased, as many as asked for", Kind::kUnknown},
    {Kind::kEmpty, "Leased, fewer than asked for", Kind::kUnknown},
    {Kind::kEmpty, "Announced", Kind::kAtLeast},
    {Kind::kEmpty, "Due", Kind::kAtLeast},
    {Kind::kEmpty, "Probed, some ready", Kind::kAtLeast},
    {Kind::kEmpty, "Unasked", Kind::kAtLeast},
    {Kind::kEmpty, "Leased, cut by bytes", Kind::kAtLeast},
    {Kind::kEmpty, "Leased, fewer but more announced", Kind::kAtLeast},
    {Kind::kAtLeast, "Asked for as many", Kind::kUnknown},
    {Kind::kAtLeast, "Leased, fewer than asked for", Kind::kUnknown},
    {Kind::kAtLeast, "Forget", Kind::kUnknown},
    {Kind::kAtLeast, "Probed, nothing ready", Kind::kEmpty},
};

std::string Print(Kind from, const std::string& cause, Kind to) {
  const auto name = [](Kind kind) {
    if (kind == Kind::kUnknown) return "unknown";
    return kind == Kind::kEmpty ? "empty" : "at least";
  };
  return absl::StrCat(name(from), " -> ", name(to), ": ", cause);
}

// Calls a belief as a scheduler may: it asks for what is believed, and lets each statement and each
// probe end once, in any order.
class RandomCalls {
 public:
  explicit RandomCalls(uint32_t seed) : random_(seed) {}

  Kind kind() const { return belief_.KindAt(now_); }

  // The next one. Returns what it is called as a cause; empty if it cannot happen now.
  std::string Next() {
    switch (Below(9)) {
      case 0: return Announce();
      case 1: return belief_.Due(1 + Below(4)), "Due";
      case 2: return Ask();
      case 3: return EndStatement();
      case 4: return probes_.push_back(belief_.announced()), "a probe begins";
      case 5: return EndProbe();
      case 6: return belief_.Invalidate(), "Invalidate";
      case 7: return belief_.Forget(), "Forget";
      default: return now_ += seconds(1 + Below(3)), "its time has come";
    }
  }

 private:
  struct Statement {
    int64_t asked;
    int64_t announced_before;
  };

  int64_t Below(int64_t end) { return static_cast<int64_t>(random_()) % end; }

  template <typename Open>
  Open TakeOne(std::vector<Open>& open) {
    const auto taken = open.begin() + Below(static_cast<int64_t>(open.size()));
    const Open one = *taken;
    open.erase(taken);
    return one;
  }

  std::string Announce() {
    const bool are_ready = Below(2) == 0;
    belief_.Announced(1 + Below(3), are_ready);
    return are_ready ? "Announced" : "Announced for later";
  }

  std::string Ask() {
    if (belief_.count() == 0) return "";
    const int64_t count = 1 + Below(std::min<int64_t>(belief_.count(), 8));
    statements_.push_back({count, belief_.announced()});
    belief_.Asked(count);
    return "Asked for as many";
  }

  std::string EndStatement() {
    if (statements_.empty()) return "";
    const Statement statement = TakeOne(statements_);
    if (Below(4) == 0) return belief_.Unasked(statement.asked), "Unasked";
    const int64_t got = Below(statement.asked + 1);
    const bool is_cut = Below(2) == 0;
    const bool is_more_announced = belief_.announced() > statement.announced_before;
    belief_.Leased(statement.asked, got, is_cut, statement.announced_before);
    if (got == statement.asked) return "Leased, as many as asked for";
    if (is_cut) return "Leased, cut by bytes";
    return is_more_announced ? "Leased, fewer but more announced" : "Leased, fewer than asked for";
  }

  std::string EndProbe() {
    if (probes_.empty()) return "";
    const int64_t announced_before = TakeOne(probes_);
    const bool is_more_announced = belief_.announced() > announced_before;
    const int64_t ready = Below(2) * (Below(8) == 0 ? Belief::kPlenty : 1 + Below(6));
    belief_.Probed(announced_before, ready, now_ + kEmptyFor);
    if (ready > 0) return "Probed, some ready";
    return is_more_announced ? "Probed, nothing ready but more announced" : "Probed, nothing ready";
  }

  std::mt19937 random_;
  SteadyTime now_ = kNow;
  Belief belief_;
  std::vector<Statement> statements_;
  std::vector<int64_t> probes_;  // what was announced when they began
};

TEST(BeliefTransitionsTest, RandomCallsFindThoseOfTheTableAndNoOthers) {
  std::map<std::string, uint32_t> found;  // with the first seed that finds it
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    RandomCalls calls(seed);
    for (int i = 0; i < 300; ++i) {
      const Kind before = calls.kind();
      const std::string cause = calls.Next();
      if (calls.kind() != before) found.try_emplace(Print(before, cause, calls.kind()), seed);
    }
  }
  for (const Transition& listed : kTransitions) {
    const std::string text = Print(listed.from, listed.cause, listed.to);
    EXPECT_EQ(found.erase(text), 1u) << text << ": never happens";
  }
  for (const auto& [text, seed] : found) ADD_FAILURE() << text << ": not listed; seed " << seed;
}

// What was announced beside a probe or a statement is not in what these saw.
TEST(BeliefTransitionsTest, NoneIntoIgnoranceOfWhatWasAnnouncedMeanwhile) {
  Belief probed;
  probed.Probed(0, 5, kNow + kEmptyFor);
  const int64_t before = probed.announced();
  Belief leased = probed;
  probed.Announced(1, /*are_ready=*/true);
  probed.Probed(before, 0, kNow + kEmptyFor);
  EXPECT_EQ(probed.KindAt(kNow), Kind::kAtLeast);
  leased.Asked(5);
  leased.Due(16);
  leased.Leased(5, 0, /*is_cut=*/false, before);
  EXPECT_EQ(leased.KindAt(kNow), Kind::kAtLeast);
}

}  // namespace
}  // namespace skiplane::broker
