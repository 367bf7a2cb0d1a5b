// Each transition that the head of belief.h lists and docs/ARCHITECTURE.md draws: tests/tidy
// compares them with this table.
#include <functional>

#include "gtest/gtest.h"
#include "server/broker/schedule/belief.h"

namespace skiplane::broker {
namespace {

using base::SteadyTime;
using Kind = Belief::Kind;

const SteadyTime kNow{std::chrono::hours(1)};
const SteadyTime kLater = kNow + std::chrono::seconds(4);

struct Transition {
  Kind from;
  const char* cause;
  Kind to;
  std::function<void(Belief&)> happen;
  SteadyTime at = kNow;  // when it is looked at
};

Belief Make(Kind kind) {
  Belief belief;
  if (kind == Kind::kEmpty) belief.Probed(0, 0, kLater);
  if (kind == Kind::kAtLeast) belief.Probed(0, 5, kLater);
  return belief;
}

void SeeNothing(Belief& belief) { belief.Probed(belief.announced(), 0, kLater); }
void SeeSome(Belief& belief) { belief.Probed(belief.announced(), 3, kLater); }
void Announce(Belief& belief) { belief.Announced(1, /*are_ready=*/true); }
void BecomeDue(Belief& belief) { belief.Due(16); }

// A statement for `asked` of five, which gets one less.
void LeaseTooFew(Belief& belief) {
  belief.Asked(4);
  belief.Leased(4, 3, /*is_cut=*/false, belief.announced());
}

const Transition kTransitions[] = {
    {Kind::kUnknown, "Probed, nothing ready", Kind::kEmpty, SeeNothing},
    {Kind::kUnknown, "Announced", Kind::kAtLeast, Announce},
    {Kind::kUnknown, "Due", Kind::kAtLeast, BecomeDue},
    {Kind::kUnknown, "Probed, some ready", Kind::kAtLeast, SeeSome},
    {Kind::kEmpty, "its time has come", Kind::kUnknown, [](Belief&) {}, kLater},
    {Kind::kEmpty, "Invalidate", Kind::kUnknown, [](Belief& b) { b.Invalidate(); }},
    {Kind::kEmpty, "Announced", Kind::kAtLeast, Announce},
    {Kind::kEmpty, "Due", Kind::kAtLeast, BecomeDue},
    {Kind::kEmpty, "Probed, some ready", Kind::kAtLeast, SeeSome},
    {Kind::kAtLeast, "Asked for as many", Kind::kUnknown, [](Belief& b) { b.Asked(5); }},
    {Kind::kAtLeast, "Leased, fewer than asked for", Kind::kUnknown, LeaseTooFew},
    {Kind::kAtLeast, "Forget", Kind::kUnknown, [](Belief& b) { b.Forget(); }},
    {Kind::kAtLeast, "Probed, nothing ready", Kind::kEmpty, SeeNothing},
};

TEST(BeliefTransitionsTest, EachHappens) {
  for (const Transition& transition : kTransitions) {
    Belief belief = Make(transition.from);
    ASSERT_EQ(belief.KindAt(kNow), transition.from) << transition.cause;
    transition.happen(belief);
    EXPECT_EQ(belief.KindAt(transition.at), transition.to) << transition.cause;
  }
}

// What was announced beside a probe or a statement is not in what these saw.
TEST(BeliefTransitionsTest, NoneIntoIgnoranceOfWhatWasAnnouncedMeanwhile) {
  Belief probed = Make(Kind::kAtLeast);
  const int64_t before = probed.announced();
  Announce(probed);
  probed.Probed(before, 0, kLater);
  EXPECT_EQ(probed.KindAt(kNow), Kind::kAtLeast);
  Belief leased = Make(Kind::kAtLeast);
  leased.Asked(5);
  BecomeDue(leased);
  leased.Leased(5, 0, /*is_cut=*/false, before);
  EXPECT_EQ(leased.KindAt(kNow), Kind::kAtLeast);
}

}  // namespace
}  // namespace skiplane::broker
