#include "server/broker/sessions/worker_shares.h"

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/reason.h"
#include "tests/support/status_matchers.h"

namespace skiplane::broker {
namespace {

using testing::IsOk;

class WorkerSharesTest : public ::testing::Test {
 protected:
  absl::Status Take(const std::string& party, int worker, absl::Duration lives = absl::Hours(12)) {
    return shares_.Take(party, absl::StrCat("worker-", worker), now_, lives);
  }

  base::SteadyTime now_ = base::SteadyTime::clock::now();
  WorkerShares shares_{3};
};

TEST_F(WorkerSharesTest, APartyHasAsManyWorkersAsOneMay) {
  for (int worker = 0; worker < 3; ++worker) EXPECT_THAT(Take("ann", worker), IsOk());
  const absl::Status refused = Take("ann", 3);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(base::ReasonOf(refused), "TOO_MANY_WORKERS");
  EXPECT_THAT(Take("ann", 1), IsOk()) << "it goes on";
  EXPECT_THAT(Take("bob", 3), IsOk());
}

TEST_F(WorkerSharesTest, WhatRanOutMakesRoom) {
  for (int worker = 0; worker < 3; ++worker) {
    EXPECT_THAT(Take("ann", worker, absl::Seconds(10 + worker)), IsOk());
  }
  EXPECT_EQ(base::RetryDelayOf(Take("ann", 3)), absl::Seconds(10));
  now_ += std::chrono::seconds(9);
  EXPECT_EQ(base::RetryDelayOf(Take("ann", 3)), absl::Seconds(1));
  now_ += std::chrono::seconds(1);
  EXPECT_THAT(Take("ann", 3), IsOk());
  EXPECT_FALSE(Take("ann", 4).ok());
}

// The row of a session that was ended stays until the session would have run out.
TEST_F(WorkerSharesTest, ASessionThatWasEndedCountsAsLongAsItsRowStays) {
  EXPECT_THAT(Take("ann", 0, absl::Hours(12)), IsOk());
  EXPECT_THAT(Take("ann", 1, absl::Seconds(1)), IsOk());
  for (const char* worker : {"worker-0", "worker-1"}) {
    EXPECT_THAT(shares_.TakeEnd("ann", worker, now_), IsOk());
  }
  EXPECT_THAT(Take("ann", 2), IsOk());
  now_ += std::chrono::minutes(4);
  EXPECT_THAT(Take("ann", 3), IsOk()) << "the short one is forgotten";
  EXPECT_FALSE(Take("ann", 4).ok());
}

TEST_F(WorkerSharesTest, AHeartbeatMovesASessionAsFarAsItsWorkerAskedForBefore) {
  EXPECT_THAT(Take("ann", 0, absl::Seconds(10)), IsOk());
  EXPECT_THAT(Take("ann", 1), IsOk());
  EXPECT_THAT(Take("ann", 2), IsOk());
  now_ += std::chrono::seconds(9);
  EXPECT_THAT(Take("ann", 0, absl::ZeroDuration()), IsOk());
  now_ += std::chrono::seconds(9);
  EXPECT_FALSE(Take("ann", 3).ok());
  now_ += std::chrono::seconds(2);
  EXPECT_THAT(Take("ann", 3), IsOk());
}

TEST_F(WorkerSharesTest, EachSessionOfAWorkerThatEndsAndBeginsCounts) {
  for (int times = 0; times < 3; ++times) {
    EXPECT_THAT(Take("ann", 0), IsOk());
    EXPECT_THAT(shares_.TakeEnd("ann", "worker-0", now_), IsOk());
  }
  EXPECT_FALSE(Take("ann", 0).ok());
}

TEST_F(WorkerSharesTest, EndsOfSessionsThatNeverWereCountToo) {
  for (int worker = 0; worker < 3; ++worker) {
    EXPECT_THAT(shares_.TakeEnd("ann", absl::StrCat(worker), now_), IsOk());
  }
  EXPECT_FALSE(shares_.TakeEnd("ann", "3", now_).ok());
  EXPECT_THAT(Take("bob", 3), IsOk());
}

TEST_F(WorkerSharesTest, PartiesAreForgottenWhenTheirWorkersAre) {
  WorkerShares shares;
  for (int party = 0; party < 5000; ++party) {
    EXPECT_THAT(shares.Take(absl::StrCat(party), "w", now_, absl::Seconds(1)), IsOk());
    now_ += std::chrono::milliseconds(10);
  }
  EXPECT_LE(shares.parties(), 1000u);
}

}  // namespace
}  // namespace skiplane::broker
