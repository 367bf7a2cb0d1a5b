#include "client/src/worker/holdings.h"

#include <gtest/gtest.h>

namespace skiplane::internal {
namespace {

std::vector<LeasedTask> Tasks(size_t count) { return std::vector<LeasedTask>(count); }

TEST(HoldingsTest, ALostTaskKeepsItsPlaceWhileItsHandlerRuns) {
  Holdings holdings(2);
  holdings.Add(Tasks(1));
  const HoldPtr hold = holdings.Take();
  EXPECT_TRUE(hold->Lose());
  holdings.Remove(hold);
  EXPECT_TRUE(holdings.All().empty()) << "it is not renewed any more";
  EXPECT_EQ(holdings.WaitForRoom(), 1) << "no thread is free for another";
  EXPECT_FALSE(holdings.WaitUntilNoneRuns(absl::ZeroDuration()));
  holdings.Ran(hold);
  EXPECT_EQ(holdings.WaitForRoom(), 2);
  EXPECT_TRUE(holdings.WaitUntilNoneRuns(absl::ZeroDuration()));
}

TEST(HoldingsTest, ASettledTaskGivesItsPlaceBackInEitherOrder) {
  Holdings holdings(2);
  holdings.Add(Tasks(2));
  const HoldPtr first = holdings.Take();
  const HoldPtr second = holdings.Take();
  holdings.Ran(first);
  holdings.Remove(first);
  EXPECT_EQ(holdings.WaitForRoom(), 1);
  holdings.Remove(second);
  holdings.Ran(second);
  EXPECT_EQ(holdings.WaitForRoom(), 2);
}

TEST(HoldingsTest, ATaskThatIsLostBeforeItRunsFreesItsPlaceAtOnce) {
  Holdings holdings(1);
  holdings.Add(Tasks(1));
  const HoldPtr hold = holdings.All().front();
  EXPECT_TRUE(hold->Lose());
  holdings.Remove(hold);
  EXPECT_EQ(holdings.WaitForRoom(), 1);
}

}  // namespace
}  // namespace skiplane::internal
