#include "server/http/byte_budget.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skiplane::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Bodies = ByteBudget::Bodies;

class ByteBudgetTest : public ::testing::Test {
 protected:
  // A caller, whose number is noted when it is given up.
  ByteBudget::Account& Open() {
    const auto number = static_cast<int>(callers_.size());
    callers_.push_back(std::make_unique<ByteBudget::Account>(budget_));
    callers_.back()->OnGivenUp([this, number] { given_up_.push_back(number); });
    return *callers_.back();
  }

  metrics::Metrics metrics_{"1.2.3", "abc"};
  ByteBudget budget_{100, 60, "http", metrics_};
  std::vector<int> given_up_;
  std::deque<std::unique_ptr<ByteBudget::Account>> callers_;
};

TEST_F(ByteBudgetTest, WhoHasTakenNothingForTheLongestIsGivenUpFirst) {
  for (int i = 0; i < 3; ++i) Open().Hold(30);
  EXPECT_THAT(given_up_, IsEmpty());
  Open().Hold(30);
  EXPECT_THAT(given_up_, ElementsAre(0));
  Open().Hold(30);
  EXPECT_THAT(given_up_, ElementsAre(0, 1));
}

TEST_F(ByteBudgetTest, WhoTakesSomethingGoesBehindTheOthers) {
  for (int i = 0; i < 3; ++i) Open().Hold(30);
  callers_[0]->Taken(0);
  callers_[1]->Taken(10);
  Open().Hold(30);
  EXPECT_THAT(given_up_, ElementsAre(2));
}

TEST_F(ByteBudgetTest, WhoHasTakenEverythingIsNotGivenUp) {
  Open().Hold(60);
  callers_[0]->Taken(60);
  Open().Hold(60);
  Open().Hold(60);
  EXPECT_THAT(given_up_, ElementsAre(1));
}

TEST_F(ByteBudgetTest, NoMoreAreGivenUpThanIsNeeded) {
  for (int i = 0; i < 4; ++i) Open().Hold(30);
  EXPECT_THAT(given_up_, ElementsAre(0));
  // What it held is not free yet, but will be.
  EXPECT_EQ(budget_.bytes(), 120);
  callers_[3]->Hold(5);
  EXPECT_THAT(given_up_, ElementsAre(0));
  callers_[0]->Hold(-30);
  EXPECT_EQ(budget_.bytes(), 95);
  Open().Hold(5);
  EXPECT_THAT(given_up_, ElementsAre(0, 1));
}

TEST_F(ByteBudgetTest, ManyWhoDoNotReadStayBelowTheBoundTogether) {
  for (int i = 0; i < 1000; ++i) {
    const size_t before = given_up_.size();
    Open().Hold(7);
    for (size_t n = before; n < given_up_.size(); ++n) {
      callers_[static_cast<size_t>(given_up_[n])].reset();
    }
    EXPECT_LT(budget_.bytes(), 100);
  }
  ASSERT_EQ(given_up_.size(), 1000U - 14);
  EXPECT_TRUE(std::is_sorted(given_up_.begin(), given_up_.end()));
}

TEST_F(ByteBudgetTest, BodiesLeaveHalfOfTheRoomToAnswers) {
  EXPECT_EQ(budget_.HoldBody("a", 29), Bodies::kRoom);
  EXPECT_EQ(budget_.HoldBody("b", 20), Bodies::kRoom);
  EXPECT_EQ(budget_.HoldBody("b", 1), Bodies::kFull);
  EXPECT_TRUE(budget_.HasRoom());
  Open().Hold(49);
  EXPECT_THAT(given_up_, IsEmpty());
  EXPECT_EQ(budget_.HoldBody("a", -2), Bodies::kRoom);
  EXPECT_EQ(budget_.HoldBody("b", 1), Bodies::kRoom);
  EXPECT_THAT(metrics_.Text(), HasSubstr("\nskiplane_http_body_bytes 49\n"));
}

TEST_F(ByteBudgetTest, BodiesFromOneAddressLeaveRoomToThoseOfOthers) {
  EXPECT_EQ(budget_.HoldBody("greedy", 29), Bodies::kRoom);
  EXPECT_EQ(budget_.HoldBody("greedy", 1), Bodies::kAddressIsFull);
  EXPECT_EQ(budget_.HoldBody("other", 19), Bodies::kRoom);
  EXPECT_EQ(budget_.HoldBody("greedy", -30), Bodies::kRoom);
  EXPECT_EQ(budget_.HoldBody("greedy", 29), Bodies::kRoom);
}

TEST_F(ByteBudgetTest, WhatIsGivenUpTakesNoRoomFromOthers) {
  Open().Hold(60);
  Open().Hold(60);
  EXPECT_THAT(given_up_, ElementsAre(0));
  EXPECT_TRUE(budget_.HasRoom());
  callers_[0].reset();
  EXPECT_TRUE(budget_.HasRoom());
  EXPECT_EQ(budget_.bytes(), 60);
}

}  // namespace
}  // namespace skiplane::http
