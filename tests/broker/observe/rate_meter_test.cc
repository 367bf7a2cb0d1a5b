#include "server/broker/observe/rate_meter.h"

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using std::chrono::seconds;

class RateMeterTest : public ::testing::Test {
 protected:
  Rates At(int second, int64_t ready, int64_t succeeded, int64_t failed = 0) {
    model::QueueCounts counts;
    counts.ready = ready;
    counts.succeeded = succeeded;
    counts.failed = failed;
    return meter_.Note(1, counts, start_ + seconds(second));
  }

  RateMeter meter_;
  const base::SteadyTime start_{seconds(1000)};
};

TEST_F(RateMeterTest, TheFirstLookTellsNothing) {
  EXPECT_EQ(At(0, 500, 500).enqueued, 0);
  EXPECT_EQ(At(10, 600, 600).enqueued, 20);
}

TEST_F(RateMeterTest, RatesAreTheMeanOfAMinute) {
  At(0, 0, 0);
  for (int second = 5; second <= 300; second += 5) {
    const Rates rates = At(second, 0, 10 * second, second);
    EXPECT_NEAR(rates.enqueued, 11, 0.01);
    EXPECT_NEAR(rates.succeeded, 10, 0.01);
    EXPECT_NEAR(rates.failed, 1, 0.01);
  }
}

TEST_F(RateMeterTest, WhatCameAfterALongQuietTimeIsThatOfTheMinute) {
  At(0, 0, 0);
  At(3600, 0, 0);
  EXPECT_NEAR(At(3605, 60, 0).enqueued, 1, 0.01);
  EXPECT_NEAR(At(3650, 60, 0).enqueued, 1, 0.01);
  EXPECT_EQ(At(3700, 60, 0).enqueued, 0) << "more than a minute ago";
}

TEST_F(RateMeterTest, WhatIsDeletedMakesNoRateBelowZero) {
  At(0, 100, 0);
  EXPECT_EQ(At(10, 0, 0).enqueued, 0);
}

TEST_F(RateMeterTest, QueuesThatAreGoneAreForgotten) {
  At(0, 100, 0);
  meter_.EndLook(start_ + seconds(1));
  EXPECT_EQ(At(10, 200, 0).enqueued, 0) << "as if it were new";
}

TEST_F(RateMeterTest, TasksOfAQueueMadeBetweenTwoLooksCameBetweenThem) {
  meter_.EndLook(start_);
  EXPECT_EQ(At(5, 50, 0).enqueued, 10);
}

TEST_F(RateMeterTest, AQueueThatIsMissedByOneLookIsNotNew) {
  At(0, 100, 0);
  meter_.EndLook(start_);
  meter_.EndLook(start_ + seconds(5));
  EXPECT_EQ(At(10, 100, 0).enqueued, 0);
}

}  // namespace
}  // namespace skiplane::broker
