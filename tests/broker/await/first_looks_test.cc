#include "server/broker/await/first_looks.h"

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr base::SteadyTime kTold{std::chrono::hours(1)};
constexpr std::chrono::milliseconds kAfter(200);
constexpr std::chrono::milliseconds kGap(150);
constexpr model::TaskId kOneTask{1, 7};
constexpr model::TaskId kOtherTask{1, 8};

TEST(FirstLooksTest, ATaskThatComesJustBeforeTheLookForAnotherIsNotLookedAtTooEarly) {
  FirstLooks looks(kAfter);
  looks.Add(kOneTask, kTold);
  looks.Add(kOtherTask, kTold + kGap);
  EXPECT_EQ(looks.Next(), kTold + kAfter);
  EXPECT_THAT(looks.TakeDue(kTold + kAfter), ElementsAre(kOneTask));
  EXPECT_EQ(looks.Next(), kTold + kGap + kAfter);
  EXPECT_THAT(looks.TakeDue(kTold + kGap + kAfter - std::chrono::nanoseconds(1)), IsEmpty());
  EXPECT_THAT(looks.TakeDue(kTold + kGap + kAfter), ElementsAre(kOtherTask));
  EXPECT_EQ(looks.Next(), std::nullopt);
}

TEST(FirstLooksTest, ALateLookIsForAllThatAreDue) {
  FirstLooks looks(kAfter);
  looks.Add(kOneTask, kTold);
  looks.Add(kOtherTask, kTold + kGap);
  EXPECT_THAT(looks.TakeDue(kTold + std::chrono::hours(1)), ElementsAre(kOneTask, kOtherTask));
}

}  // namespace
}  // namespace skiplane::broker
