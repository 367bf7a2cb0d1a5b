#include "server/broker/schedule/probe_budget.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const base::SteadyTime kNow = std::chrono::steady_clock::now();

TEST(ProbeBudgetTest, OneLaneWaitsFiftyTimesWhatItsLookTook) {
  EXPECT_EQ(ProbeBudget().Take(kNow, milliseconds(2)), kNow + milliseconds(100));
}

TEST(ProbeBudgetTest, ManyLanesWaitForEachOther) {
  ProbeBudget turns;
  for (int lane = 1; lane <= 1000; ++lane) {
    EXPECT_EQ(turns.Take(kNow, milliseconds(1)), kNow + lane * milliseconds(50));
  }
}

TEST(ProbeBudgetTest, AnExpensiveLaneDelaysTheOthersByLittle) {
  ProbeBudget turns;
  turns.Take(kNow, seconds(10));
  EXPECT_EQ(turns.Take(kNow, milliseconds(2)), kNow + seconds(1) + milliseconds(100));
}

TEST(ProbeBudgetTest, TimesThatNobodyTookAreGone) {
  ProbeBudget turns;
  turns.Take(kNow, milliseconds(2));
  EXPECT_EQ(turns.Take(kNow + seconds(5), milliseconds(2)), kNow + milliseconds(5100));
}

}  // namespace
}  // namespace skiplane::broker
