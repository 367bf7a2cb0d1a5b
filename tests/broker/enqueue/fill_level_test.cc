// What a broker believes that a queue holds, between two counts.
#include "server/broker/enqueue/fill_level.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

using std::chrono::milliseconds;

constexpr base::SteadyTime kStart{std::chrono::hours(1)};

TEST(FillLevelTest, NothingIsKnownAtFirst) {
  FillLevel level;
  EXPECT_TRUE(level.IsOld(kStart));
  EXPECT_TRUE(level.MayCount(kStart));
}

TEST(FillLevelTest, WhatIsLetInIsAddedToWhatWasCounted) {
  FillLevel level;
  level.BeginCount();
  level.Counted(10, kStart, kStart);
  level.Take(5);
  EXPECT_EQ(level.Now(), 15);
  level.GiveBack(2);
  EXPECT_EQ(level.Now(), 13);
}

// Whether the count saw it is not known.
TEST(FillLevelTest, WhatIsBeingWrittenDuringACountIsAddedToIt) {
  FillLevel level;
  level.Take(1);
  level.Take(2);
  level.Ended(1);
  level.BeginCount();
  EXPECT_EQ(level.Now(), 3);
  level.Take(4);
  level.Counted(10, kStart, kStart);
  EXPECT_EQ(level.Now(), 16);
  level.Ended(2);
  level.Ended(4);
  level.BeginCount();
  level.Counted(16, kStart, kStart);
  EXPECT_EQ(level.Now(), 16);
}

TEST(FillLevelTest, ACountIsGoodForAWhile) {
  FillLevel level;
  level.Counted(1, kStart, kStart);
  EXPECT_FALSE(level.IsOld(kStart + FillLevel::kTrusted));
  EXPECT_TRUE(level.IsOld(kStart + FillLevel::kTrusted + milliseconds(1)));
  EXPECT_FALSE(level.MayCount(kStart + FillLevel::kRecount - milliseconds(1)));
  EXPECT_TRUE(level.MayCount(kStart + FillLevel::kRecount));
}

TEST(FillLevelTest, ACountThatTakesLongComesMoreSeldom) {
  FillLevel level;
  level.Counted(1, kStart - milliseconds(500), kStart);
  EXPECT_FALSE(level.IsOld(kStart + milliseconds(9999)));
  EXPECT_FALSE(level.MayCount(kStart + milliseconds(9999)));
  EXPECT_TRUE(level.MayCount(kStart + milliseconds(10000)));
  EXPECT_TRUE(level.IsOld(kStart + milliseconds(10001)));
}

TEST(FillLevelTest, AfterACountThatFailedWhatWasKnownStays) {
  FillLevel level;
  level.Counted(7, kStart, kStart);
  level.BeginCount();
  level.CountEnded(kStart, kStart + milliseconds(500));
  EXPECT_EQ(level.Now(), 7);
  EXPECT_FALSE(level.MayCount(kStart + milliseconds(10000)));
}

}  // namespace
}  // namespace skiplane::broker
