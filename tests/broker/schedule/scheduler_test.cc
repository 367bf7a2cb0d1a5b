// Lanes: when they are probed and leased from, and who is served by which.
#include "gtest/gtest.h"
#include "tests/broker/schedule/scheduler_by_hand.h"

namespace skiplane::broker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SchedulerTest : public SchedulerByHand {};

TEST_F(SchedulerTest, TheFirstCallerOfALaneHasItProbedBeforeAnythingIsLeased) {
  EXPECT_EQ(Commit(1, 7), "") << "nobody ever waited there";
  EXPECT_EQ(Admit(Caller("ann", {1})), "probe 1");
  EXPECT_EQ(Probe(1, 7), "lease 1");
  EXPECT_EQ(Lease(1, 5), "answer ann: 5 tasks");
}

TEST_F(SchedulerTest, ACommitServesWhoWaits) {
  MakeEmpty(1);
  EXPECT_EQ(Admit(Caller("ann", {1})), "");
  EXPECT_EQ(Commit(1, 2), "lease 1");
  EXPECT_EQ(Lease(1, 2), "answer ann: 2 tasks");
}

TEST_F(SchedulerTest, SoDoesANotification) {
  MakeEmpty(1);
  EXPECT_EQ(Admit(Caller("ann", {1})), "");
  EXPECT_EQ(Notify(1, 1), "lease 1");
  EXPECT_EQ(Lease(1, 1), "answer ann: 1 tasks");
}

// Their time is the database's: the probe says how long it is till then.
TEST_F(SchedulerTest, ANotificationOfScheduledTasksHasTheLaneProbed) {
  MakeEmpty(1);
  EXPECT_EQ(Admit(Caller("ann", {1})), "");
  now_ += seconds(1);
  EXPECT_EQ(Notify(1, 1, /*is_ready=*/false), "probe 1");
}

TEST_F(SchedulerTest, OneStatementServesCallersInTheirOrder) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Admit(Caller("bob", {1}));
  EXPECT_EQ(Commit(1, 3), "lease 1");
  LeaseRun run = Begin(1);
  ASSERT_EQ(run.tickets.size(), 2u);
  EXPECT_EQ(run.tickets.front()->call.worker_name, "ann");
  EXPECT_EQ(End(run, 3), "answer ann: 2 tasks; answer bob: 1 tasks");
}

// Of 9 tasks that were known of 10 the last one went to who had got more already.
TEST_F(SchedulerTest, WhoComesNextIsAskedForOneMoreThanIsKnown) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Admit(Caller("bob", {1}));
  EXPECT_EQ(Commit(1, 3), "lease 1");
  LeaseRun run = Begin(1);
  EXPECT_EQ(run.demand.slots, (std::vector<int32_t>{1, 2, 1, 2}));
  EXPECT_TRUE(run.asks_for_more);
  EXPECT_EQ(End(run, 4), "answer ann: 2 tasks; answer bob: 2 tasks");
}

TEST_F(SchedulerTest, FewTasksRunInOneStatementAndManyInTwo) {
  MakeEmpty(1);
  for (int i = 0; i < 3; ++i) Admit(Caller("ann", {1}));
  EXPECT_EQ(Commit(1, 1), "lease 1");
  LeaseRun first = Begin(1);
  EXPECT_EQ(Commit(1, 1), "") << "one statement at a time";
  EXPECT_EQ(Commit(1, 500), "lease 1") << "a second one beside it";
  EXPECT_EQ(Commit(1, 500), "");
  EXPECT_EQ(End(first, 1), "answer ann: 1 tasks; lease 1");
}

TEST_F(SchedulerTest, ManyTasksRunInOneStatementWhileNoConnectionWouldStayIdle) {
  MakeEmpty(1);
  for (int i = 0; i < 3; ++i) Admit(Caller("ann", {1}));
  EXPECT_EQ(Commit(1, 1), "lease 1");
  LeaseRun first = Begin(1);
  has_spare_ = false;
  EXPECT_EQ(Commit(1, 500), "");
  has_spare_ = true;
  EXPECT_EQ(Commit(1, 1), "lease 1");
}

// It is one alarm, for whatever comes first: here the end of the belief that it is empty.
TEST_F(SchedulerTest, ALaneHasOneAlarm) {
  MakeEmpty(1);
  const base::SteadyTime emptied = now_ - kSinceEmpty;
  Admit(Caller("ann", {1}));
  Admit(Caller("bob", {1}));
  EXPECT_EQ(scheduler_.NextWake(), emptied + seconds(4));
  EXPECT_EQ(Commit(1, 1, absl::Seconds(2)), "");
  EXPECT_EQ(scheduler_.NextWake(), now_ + seconds(2)) << "a task is due";
  EXPECT_EQ(After(seconds(2)), "lease 1");
  EXPECT_EQ(Lease(1, 1), "answer ann: 1 tasks; probe 1");
  EXPECT_EQ(Probe(1, 0), "");
  EXPECT_EQ(scheduler_.NextWake(), now_ + seconds(1)) << "the lane is rescanned";
}

TEST_F(SchedulerTest, WithoutCallersThereIsNothingToWakeFor) {
  EXPECT_EQ(scheduler_.NextWake(), base::SteadyTime::max());
  MakeEmpty(1);
  EXPECT_EQ(scheduler_.NextWake(), base::SteadyTime::max());
  EXPECT_EQ(Commit(1, 1), "");
}

TEST_F(SchedulerTest, AnEmptyLaneIsProbedAgainWhenNobodyTellsOfIt) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  EXPECT_EQ(After(milliseconds(3999) - kSinceEmpty), "");
  EXPECT_EQ(After(milliseconds(1)), "probe 1");
}

TEST_F(SchedulerTest, WithoutNotificationsItIsProbedEverySecond) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  now_ += seconds(1);
  EXPECT_EQ(Do([](Scheduler& s, Step& step) { s.SetListening(false, step); }), "probe 1");
  EXPECT_EQ(Probe(1, 0), "");
  EXPECT_EQ(After(seconds(1)), "probe 1");
}

// What was missed meanwhile may go first: that it is notified is not certain.
TEST_F(SchedulerTest, TheFirstCallerAfterAWhileIsServedByTheMostUrgentTask) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Commit(1, 9);
  EXPECT_EQ(Lease(1, 5), "answer ann: 5 tasks");
  EXPECT_EQ(Admit(Caller("bob", {1})), "lease 1") << "ann was there just now";
  EXPECT_EQ(Lease(1, 4), "answer bob: 4 tasks");
  Commit(1, 9);
  now_ += seconds(2);
  EXPECT_EQ(Admit(Caller("cid", {1})), "probe 1");
}

// Tasks that others gave back, and of which nobody told, are found so.
TEST_F(SchedulerTest, ALaneIsRescannedEverySecondWhileCallersWait) {
  MakeEmpty(1);
  for (const char* name : {"ann", "bob"}) Admit(Caller(name, {1}));
  Commit(1, 1);
  EXPECT_EQ(Lease(1, 1), "answer ann: 1 tasks; probe 1");
  EXPECT_EQ(Probe(1, 0), "");
  EXPECT_EQ(After(seconds(1)), "probe 1");
}

TEST_F(SchedulerTest, ALaterLaneServesACallerOnlyWhenTheEarlierOnesHaveNothing) {
  MakeEmpty(2);
  EXPECT_EQ(Admit(Caller("ann", {1, 2})), "probe 1");
  EXPECT_EQ(Commit(2, 5), "") << "nobody knows of lane 1";
  EXPECT_EQ(Probe(1, 0), "lease 2");
  EXPECT_EQ(Lease(2, 5), "answer ann: 5 tasks");
}

TEST_F(SchedulerTest, TheLanesBehindAPausedQueueAreAsked) {
  MakeEmpty(1);
  MakeEmpty(2);
  Admit(Caller("ann", {1, 2}));
  EXPECT_EQ(Commit(1, 5), "lease 1");
  EXPECT_EQ(Commit(2, 5), "") << "lane 1 comes first";
  EXPECT_EQ(Pause(1), "held back 1; lease 2");
  EXPECT_EQ(Begin(1).tickets.size(), 0u);
  EXPECT_EQ(Lease(2, 5), "answer ann: 5 tasks");
}

TEST_F(SchedulerTest, TheyAreAskedTooWhenACallTellsOfThePause) {
  MakeEmpty(1);
  MakeEmpty(2);
  Admit(Caller("ann", {1, 2}));
  EXPECT_EQ(Commit(1, 5), "lease 1");
  EXPECT_EQ(Commit(2, 5), "");
  auto paused = std::make_shared<model::Queue>(*QueueOf(1));
  paused->pause = model::PauseMode::kLease;
  paused->version = 2;
  const TicketPtr bob = Caller("bob", {1});
  bob->wanted.front().queue = paused;
  EXPECT_EQ(Admit(bob), "held back 1; lease 2");
}

TEST_F(SchedulerTest, AnOlderVersionOfAQueueChangesNothing) {
  MakeEmpty(1);
  const QueuePtr before = QueueOf(1);
  Pause(1);
  Admit(Caller("ann", {1}));
  EXPECT_EQ(Do([&](Scheduler& s, Step& step) { s.QueueChanged(before, step); }), "");
  EXPECT_EQ(Commit(1, 1), "held back 1");
}

TEST_F(SchedulerTest, AResumedQueueServesWhoWaited) {
  MakeEmpty(1);
  Pause(1);
  EXPECT_EQ(Admit(Caller("ann", {1})), "held back 1");
  EXPECT_EQ(Commit(1, 3), "held back 1");
  EXPECT_EQ(Pause(1, false), "lease 1");
  EXPECT_EQ(Lease(1, 3), "answer ann: 3 tasks");
}

// While lane 2 leased for the caller, lane 1 got tasks, and could not have served it.
TEST_F(SchedulerTest, ACallerIsServedByTheFirstLaneThatBecameDueWhileTheSecondLeased) {
  MakeEmpty(1);
  MakeEmpty(2);
  Admit(Caller("ann", {1, 2}));
  EXPECT_EQ(Commit(1, 3, absl::Seconds(1)), "");
  EXPECT_EQ(Commit(2, 1), "lease 2");
  LeaseRun run = Begin(2);
  EXPECT_EQ(After(seconds(1)), "") << "ann is being served";
  EXPECT_EQ(End(run, 0), "probe 2; lease 1");
  EXPECT_EQ(Lease(1, 3), "probe 1");
  EXPECT_EQ(Probe(2, 0), "answer ann: 3 tasks");
}

TEST_F(SchedulerTest, TheLeaseOfAStatementThatFailedIsTriedAgainAfterAProbe) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Commit(1, 3);
  LeaseRun run = Begin(1);
  EXPECT_EQ(FailLease(run), "") << "a little later";
  EXPECT_EQ(After(milliseconds(200)), "probe 1");
  EXPECT_EQ(Probe(1, 3), "lease 1");
  EXPECT_EQ(Lease(1, 3), "answer ann: 3 tasks");
}

TEST_F(SchedulerTest, WaitingCallsAreCountedPerQueueAndPlace) {
  MakeEmpty(1);
  Admit(Caller("ann", {1, 2}));
  Admit(Caller("bob", {1}));
  EXPECT_EQ(scheduler_.WaitingCallsAt({1, 0}), 2);
  EXPECT_EQ(scheduler_.WaitingCallsAt({2, 0}), 1);
  EXPECT_EQ(scheduler_.WaitingCallsAt({3, 0}), 0);
  EXPECT_EQ(scheduler_.WaitingCalls(), (std::map<std::string, int64_t>{{"q1", 2}, {"q2", 1}}));
}

TEST_F(SchedulerTest, ACallCountsOnceInItsQueueAndNoLongerWhenItHasLeft) {
  MakeEmpty(1);
  const TicketPtr ann = Caller("ann", {1, 2});
  ann->wanted.push_back({{1, 1}, QueueOf(1), 0});  // another stage, behind another queue
  Admit(ann);
  EXPECT_EQ(scheduler_.WaitingCalls(), (std::map<std::string, int64_t>{{"q1", 1}, {"q2", 1}}));
  Cancel(ann);
  EXPECT_EQ(scheduler_.WaitingCalls(), (std::map<std::string, int64_t>{{"q1", 0}, {"q2", 0}}));
}

// Each end of a probe once had all asked again that could not serve a call yet.
class BlockedLaneTest : public SchedulerByHand {
 protected:
  // Lane 3 has a task for a caller that wants it last.
  void ExpectLeaseAfterProbesOf(int64_t first, int64_t second) {
    MakeEmpty(3);
    EXPECT_EQ(Admit(Caller("ann", {1, 2, 3})), "probe 1; probe 2");
    EXPECT_EQ(Commit(3, 1), "");
    EXPECT_EQ(Probe(first, 0), "");
    EXPECT_EQ(Probe(second, 0), "lease 3");
    EXPECT_EQ(Lease(3, 1), "answer ann: 1 tasks");
  }
};

TEST_F(BlockedLaneTest, WaitsForAllBeforeItIfTheNearestTellsFirst) {
  ExpectLeaseAfterProbesOf(2, 1);
}

TEST_F(BlockedLaneTest, WaitsForAllBeforeItIfTheFarthestTellsFirst) {
  ExpectLeaseAfterProbesOf(1, 2);
}

}  // namespace
}  // namespace skiplane::broker
