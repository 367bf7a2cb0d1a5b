#include "server/upkeep/clock_mender.h"

#include <chrono>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::Required;

class ClockMenderTest : public testing::UpkeepHarness {
 protected:
  // As if the clock had shown an hour more until now.
  void SetClockBack() {
    TakeLead(broker_);
    Sql("UPDATE skiplane.upkeep_lead SET reclaim_time = now() + interval '1 hour'");
  }
  store::Lead TakeLead(const pg::Uuid& broker) {
    return Required(store::TakeLead(*session_, broker, absl::Seconds(60)));
  }
  // A waiting task; both times as SQL.
  void PutAt(const std::string& create_time, const std::string& schedule_time) {
    PutOne();
    Sql(absl::StrCat("WITH moved AS (UPDATE skiplane.task SET create_time = ", create_time,
                     ", schedule_time = ", schedule_time, ", due = skiplane.due_slot(",
                     schedule_time, ", ", create_time,
                     ") WHERE id = (SELECT max(id) FROM skiplane.task) RETURNING lane, stage, due) "
                     "INSERT INTO skiplane.counter_delta (lane, stage, due, waiting) "
                     "SELECT lane, stage, due, 1 FROM moved UNION ALL "
                     "SELECT lane, stage, 0, -1 FROM moved"));
  }
  MendResult Mend() {
    EXPECT_THAT(mender_.Watch(*session_, TakeLead(broker_)), IsOkAndHolds(true));
    return Required(mender_.RunOnce(*session_));
  }
  int64_t OpenSteps() const {
    return Number("SELECT count(*) FROM skiplane.clock_step WHERE mend_time IS NULL");
  }
  // Which its row does not show: a later call has asked for less.
  void LeaseFor10Minutes() {
    Sql("UPDATE skiplane.worker_session SET lease_duration = '10 s', expire_time = " +
        Until("10 minutes"));
  }
  int64_t LeasesOf10Minutes() const {
    return Number("SELECT count(*) FROM skiplane.worker_session "
                  "WHERE expire_time > now() + interval '8 minutes'");
  }
  std::string Until(const std::string& interval) const {
    return absl::StrCat("now() + interval '", interval, "'");
  }

  const pg::Uuid broker_ = testing::UuidOf(200);
  ClockMender mender_{broker_, &metrics_, absl::ZeroDuration()};
};

TEST_F(ClockMenderTest, AStepIsNotedAndCountedOnce) {
  SetClockBack();
  EXPECT_THAT(mender_.Watch(*session_, TakeLead(broker_)), IsOkAndHolds(true));
  EXPECT_THAT(mender_.Watch(*session_, TakeLead(broker_)), IsOkAndHolds(false));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.clock_step"), 1);
  EXPECT_THAT(metrics_.Text(), HasSubstr("skiplane_db_clock_steps_total 1"));
}

TEST_F(ClockMenderTest, TasksThatWereDueAreDueAgainAndOthersKeepTheirTime) {
  PutAt(Until("50 minutes"), Until("50 minutes"));  // made to run at once
  PutAt(Until("-2 hours"), Until("30 minutes"));    // its delay was over
  PutAt(Until("50 minutes"), Until("70 minutes"));  // its delay was not
  SetClockBack();
  EXPECT_THAT(mender_.Watch(*session_, TakeLead(broker_)), IsOkAndHolds(true));
  PutAt("now()", Until("10 minutes"));  // since the step
  EXPECT_EQ(Required(mender_.RunOnce(*session_)).tasks, 2);
  EXPECT_EQ(Tasks("schedule_time <= now() AND due = 0"), 2);
  EXPECT_EQ(Tasks("schedule_time > now() + interval '5 minutes'"), 2);
  EXPECT_EQ(Required(mender_.RunOnce(*session_)).tasks, 0);
  EXPECT_EQ(OpenSteps(), 0);
}

TEST_F(ClockMenderTest, WhatWasDecidedSinceTheStepHolds) {
  PutAt(Until("-2 hours"), Until("-1 minute"));
  SetClockBack();
  EXPECT_THAT(mender_.Watch(*session_, TakeLead(broker_)), IsOkAndHolds(true));
  Sql("UPDATE skiplane.task SET schedule_time = " + Until("10 minutes"));  // as a retry does
  EXPECT_EQ(Required(mender_.RunOnce(*session_)).tasks, 0);
}

TEST_F(ClockMenderTest, ATaskThatWasLockedIsMendedByALaterRound) {
  PutAt(Until("50 minutes"), Until("50 minutes"));
  SetClockBack();
  const auto other = Open();
  Required(other->RunText("BEGIN"));
  Required(other->RunText("SELECT 1 FROM skiplane.task FOR UPDATE"));
  EXPECT_EQ(Mend().tasks, 0);
  EXPECT_EQ(OpenSteps(), 1);
  Required(other->RunText("ROLLBACK"));
  EXPECT_EQ(Required(mender_.RunOnce(*session_)).tasks, 1);
  EXPECT_EQ(Required(mender_.RunOnce(*session_)).tasks, 0);
  EXPECT_EQ(OpenSteps(), 0);
}

TEST_F(ClockMenderTest, AStepThatAnotherLeaderHasClosedIsLeftAlone) {
  PutAt(Until("50 minutes"), Until("50 minutes"));
  SetClockBack();
  const auto other = Open();
  Required(other->RunText("BEGIN"));
  Required(other->RunText("SELECT 1 FROM skiplane.task FOR UPDATE"));
  EXPECT_EQ(Mend().tasks, 0);
  Required(other->RunText("ROLLBACK"));
  Sql("UPDATE skiplane.clock_step SET mend_time = now()");
  EXPECT_EQ(Required(mender_.RunOnce(*session_)).tasks, 0);
}

TEST_F(ClockMenderTest, TheTimeSinceTheDeadWereLookedForCountsOnlyWhereThisBrokerDidIt) {
  const auto an_hour_ago = std::chrono::steady_clock::now() - std::chrono::hours(1);
  for (const pg::Uuid& who : {testing::UuidOf(201), broker_}) {
    TakeLead(who);
    EXPECT_THAT(store::MarkReclaimed(*session_, who), IsOk());
    Sql("UPDATE skiplane.upkeep_lead SET expire_time = '-infinity'");
    SetClockBack();
    EXPECT_THAT(mender_.Watch(*session_, TakeLead(broker_), an_hour_ago), IsOkAndHolds(true));
    EXPECT_EQ(Number("SELECT count(*) FROM skiplane.clock_step "
                     "WHERE old_time > now() + interval '90 minutes'"),
              who == broker_ ? 1 : 0);
    Sql("UPDATE skiplane.upkeep_lead SET expire_time = '-infinity'");
  }
}

TEST_F(ClockMenderTest, APlannedTimeDoesNotComeTwice) {
  PutAt(Until("-2 hours"), Until("30 minutes"));
  Sql("UPDATE skiplane.task SET planned_time = schedule_time, period = 3600000000");
  SetClockBack();
  EXPECT_EQ(Mend().tasks, 0);
}

TEST_F(ClockMenderTest, ASessionKeepsItsTimeOutAndNoMore) {
  Worker("silent");
  Sql("UPDATE skiplane.worker_session SET lease_duration = '1 minute', expire_time = " +
      Until("61 minutes"));
  SetClockBack();
  Mend();
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.worker_session WHERE expire_time BETWEEN "
                   "now() + interval '30 s' AND now() + interval '62 s'"),
            1);
}

TEST_F(ClockMenderTest, ALeaseMadeBetweenTheStepAndItsNotingKeepsItsEnd) {
  Worker("busy");
  SetClockBack();
  LeaseFor10Minutes();
  Mend();
  EXPECT_EQ(LeasesOf10Minutes(), 1);
}

TEST_F(ClockMenderTest, ALeaseMadeSinceTheStepWasNotedKeepsItsEndHoweverSmallTheStep) {
  Worker("busy");
  TakeLead(broker_);
  Sql("UPDATE skiplane.upkeep_lead SET reclaim_time = now() + interval '5 minutes'");
  EXPECT_THAT(mender_.Watch(*session_, TakeLead(broker_)), IsOkAndHolds(true));
  LeaseFor10Minutes();
  Required(mender_.RunOnce(*session_));
  EXPECT_EQ(LeasesOf10Minutes(), 1);
}

TEST_F(ClockMenderTest, ALeadThatEndsInAnHourIsTakenOver) {
  TakeLead(testing::UuidOf(201));
  Sql("UPDATE skiplane.upkeep_lead SET expire_time = now() + interval '1 hour'");
  EXPECT_TRUE(Required(store::TakeLead(*session_, broker_, absl::Seconds(1))).is_leader);
}

}  // namespace
}  // namespace skiplane::upkeep
