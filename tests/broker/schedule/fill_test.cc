// Calls that hold tasks take more from the other lanes that they want.
#include "gtest/gtest.h"
#include "tests/broker/schedule/scheduler_by_hand.h"

namespace skiplane::broker {
namespace {

class FillTest : public SchedulerByHand {
 protected:
  // These lanes are known to have so many tasks each.
  void MakeReady(std::vector<int64_t> lanes, int64_t count) {
    for (const int64_t lane : lanes) {
      MakeEmpty(lane);
      Commit(lane, count);
    }
  }
};

TEST_F(FillTest, ACallIsFilledFromOneLaneAfterTheOther) {
  MakeReady({1, 2, 3}, 2);
  EXPECT_EQ(Admit(Caller("ann", {1, 2, 3})), "lease 1");
  EXPECT_EQ(Lease(1, 2), "probe 1; lease 2");
  EXPECT_EQ(Lease(2, 2), "probe 2; lease 3");
  LeaseRun run = Begin(3);
  EXPECT_EQ(run.demand.slots.size(), 1u) << "five are all it wants";
  EXPECT_EQ(End(run, 1), "answer ann: 5 tasks");
}

TEST_F(FillTest, OneThatHoldsTasksWaitsForNoOthers) {
  MakeReady({1}, 2);
  MakeEmpty(2);
  Admit(Caller("ann", {1, 2}));
  EXPECT_EQ(Lease(1, 2), "answer ann: 2 tasks");
}

TEST_F(FillTest, WhatBecameDueInALaterLaneMeanwhileIsTaken) {
  MakeReady({1}, 2);
  MakeEmpty(2);
  Commit(2, 1, absl::Seconds(1));
  EXPECT_EQ(Admit(Caller("ann", {1, 2})), "lease 1");
  LeaseRun run = Begin(1);
  now_ += std::chrono::seconds(1);
  EXPECT_EQ(End(run, 2), "probe 1; lease 2");
  EXPECT_EQ(Lease(2, 1), "answer ann: 3 tasks");
}

TEST_F(FillTest, ALaneThatIsBeingProbedTellsFirst) {
  MakeReady({1, 2}, 2);
  EXPECT_EQ(Admit(Caller("ann", {1, 3, 2})), "lease 1; probe 3");
  EXPECT_EQ(Lease(1, 2), "probe 1");
  EXPECT_EQ(Probe(3, 1), "lease 3");
  EXPECT_EQ(Lease(3, 1), "lease 2");
  EXPECT_EQ(Lease(2, 2), "answer ann: 5 tasks");
}

TEST_F(FillTest, OneThatProvesEmptyIsPassedBy) {
  MakeReady({1, 2}, 2);
  EXPECT_EQ(Admit(Caller("ann", {1, 3, 2})), "lease 1; probe 3");
  Lease(1, 2);
  EXPECT_EQ(Probe(3, 0), "lease 2");
  EXPECT_EQ(Lease(2, 2), "answer ann: 4 tasks");
}

TEST_F(FillTest, OneWhoseProbeFailsIsPassedByToo) {
  MakeReady({1}, 2);
  EXPECT_EQ(Admit(Caller("ann", {1, 3})), "lease 1; probe 3");
  Lease(1, 2);
  EXPECT_EQ(FailProbe(3), "answer ann: 2 tasks");
}

TEST_F(FillTest, EachLaneIsAskedOnce) {
  MakeReady({1, 2}, 1);
  EXPECT_EQ(Admit(Caller("ann", {1, 2})), "lease 1");
  LeaseRun run = Begin(1);
  Commit(1, 3);
  EXPECT_EQ(End(run, 1), "lease 2");
  EXPECT_EQ(Lease(2, 1), "answer ann: 2 tasks");
}

TEST_F(FillTest, WhatALaterLaneHadIsTakenByOthersMeanwhile) {
  MakeReady({1, 2}, 1);
  EXPECT_EQ(Admit(Caller("ann", {1, 2})), "lease 1");
  EXPECT_EQ(Admit(Caller("bob", {2})), "lease 2");
  LeaseRun run = Begin(2);
  EXPECT_EQ(Lease(1, 1), "answer ann: 1 tasks");
  EXPECT_EQ(End(run, 1), "answer bob: 1 tasks");
}

TEST_F(FillTest, ALaterLaneThatFailsLosesNothing) {
  MakeReady({1, 2, 3}, 1);
  Admit(Caller("ann", {1, 2, 3}));
  EXPECT_EQ(Lease(1, 1), "probe 1; lease 2");
  LeaseRun run = Begin(2);
  EXPECT_EQ(FailLease(run), "lease 3");
  EXPECT_EQ(Lease(3, 1), "answer ann: 2 tasks");
}

TEST_F(FillTest, NeitherDoesAPause) {
  MakeReady({1, 2}, 1);
  Admit(Caller("ann", {1, 2}));
  EXPECT_EQ(Lease(1, 1), "probe 1; lease 2");
  EXPECT_EQ(Pause(2), "held back 2; answer ann: 1 tasks");
}

TEST_F(FillTest, NorTheEndOfTheWait) {
  MakeReady({1, 2}, 1);
  Admit(Caller("ann", {1, 2}));
  Lease(1, 1);
  EXPECT_EQ(After(kWait), "answer ann: 1 tasks");
}

TEST_F(FillTest, ACancelledCallGivesBackAllThatItHolds) {
  MakeReady({1, 2}, 1);
  const TicketPtr ann = Caller("ann", {1, 2});
  Admit(ann);
  Lease(1, 1);
  LeaseRun run = Begin(2);
  EXPECT_EQ(Cancel(ann), "");
  EXPECT_EQ(End(run, 1), "answer ann: 0 tasks; hand back 2");
}

TEST_F(FillTest, OneThatIsCancelledBetweenTwoLanesToo) {
  MakeReady({1, 2}, 1);
  const TicketPtr ann = Caller("ann", {1, 2});
  Admit(ann);
  Lease(1, 1);
  EXPECT_EQ(Cancel(ann), "answer ann: 0 tasks; hand back 1");
}

TEST_F(FillTest, AQueueGivesNoMoreThanItsOwnLimit) {
  MakeReady({1, 2}, 9);
  const TicketPtr ann = Caller("ann", {1, 2});
  ann->wanted[1].source = 1;
  ann->most_of = {2, 1};
  Admit(ann);
  LeaseRun first = Begin(1);
  EXPECT_EQ(first.demand.slots.size(), 2u);
  EXPECT_EQ(End(first, 2), "lease 2");
  LeaseRun second = Begin(2);
  EXPECT_EQ(second.demand.slots.size(), 1u);
  EXPECT_EQ(End(second, 1), "answer ann: 3 tasks");
}

TEST_F(FillTest, OnlyItsFirstTaskMayExceedItsBytes) {
  MakeReady({1, 2}, 1);
  Admit(Caller("ann", {1, 2}));
  LeaseRun first = Begin(1);
  EXPECT_FALSE(first.demand.callers.front().holds_tasks);
  End(first, 1);
  EXPECT_TRUE(Begin(2).demand.callers.front().holds_tasks);
}

TEST_F(FillTest, AReservationGoesOnLikeAnyCall) {
  MakeReady({1, 2}, 2);
  const TicketPtr ann = Caller("ann", {1, 2});
  LeaseRun run;
  Do([&](Scheduler& s, Step& step) { run = s.Reserve({1, 0}, {ann}, step); });
  EXPECT_EQ(End(run, 2), "probe 1; lease 2");
  EXPECT_EQ(Lease(2, 2), "answer ann: 4 tasks");
}

}  // namespace
}  // namespace skiplane::broker
