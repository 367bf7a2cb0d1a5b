#include "server/app/end_requests.h"

#include <gtest/gtest.h>

namespace skiplane::app {
namespace {

using std::chrono::milliseconds;
using Kind = EndRequests::Kind;

class EndRequestsTest : public ::testing::Test {
 protected:
  Kind After(milliseconds time) { return ends_.Add(EndRequests::SteadyTime(time)); }

  EndRequests ends_;
};

// GNU timeout signals the process, and then its group.
TEST_F(EndRequestsTest, WhatComesWithinASecondIsTheSameRequest) {
  EXPECT_EQ(After(milliseconds(5000)), Kind::kFirst);
  EXPECT_EQ(After(milliseconds(5000)), Kind::kRepeat);
  EXPECT_EQ(After(milliseconds(5999)), Kind::kRepeat);
}

TEST_F(EndRequestsTest, WhoAsksLaterDoesNotWantToWait) {
  After(milliseconds(5000));
  EXPECT_EQ(After(milliseconds(6000)), Kind::kAtOnce);
}

TEST_F(EndRequestsTest, ARepeatDoesNotPutTheSecondRequestOff) {
  After(milliseconds(5000));
  After(milliseconds(5900));
  EXPECT_EQ(After(milliseconds(6100)), Kind::kAtOnce);
}

}  // namespace
}  // namespace skiplane::app
