// Probes from the bounds, and the rescans that look before these.
#include "gtest/gtest.h"
#include "tests/broker/schedule/scheduler_by_hand.h"

namespace skiplane::broker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RescanTest : public SchedulerByHand {
 protected:
  // Ann got the only task of lane 1, bob waits, and the lane is to be probed.
  void LeaseTheOnlyTask() {
    MakeEmpty(1);
    for (const char* name : {"ann", "bob"}) Admit(Caller(name, {1}));
    Commit(1, 1);
    EXPECT_EQ(Lease(1, 1), "answer ann: 1 tasks; probe 1");
  }
  // The probe saw nothing, and a second later a rescan begins.
  ProbeStart BeginRescan() {
    LeaseTheOnlyTask();
    EXPECT_EQ(Probe(1, 0), "");
    EXPECT_EQ(After(seconds(1)), "probe 1");
    const ProbeStart rescan = BeginProbe(1);
    EXPECT_TRUE(rescan.is_rescan);
    return rescan;
  }
};

// Under an old snapshot a look from the start passes all dead rows, and nothing was leased then.
TEST_F(RescanTest, AfterAShortAnswerTheLaneIsProbedBehindWhatWasLeased) {
  MakeEmpty(1);
  for (const char* name : {"ann", "bob", "cid"}) Admit(Caller(name, {1}));
  Commit(1, 1);
  EXPECT_EQ(Lease(1, 1), "answer ann: 1 tasks; probe 1");
  EXPECT_EQ(Probe(1, 1), "lease 1");
  EXPECT_EQ(Lease(1, 1), "answer bob: 1 tasks");
  now_ += milliseconds(25);
  EXPECT_EQ(Commit(1, 1), "lease 1");
  EXPECT_EQ(Lease(1, 0), "probe 1") << "others were faster";
  const ProbeStart start = BeginProbe(1);
  ASSERT_EQ(start.from.size(), 1u);
  EXPECT_EQ(start.from.front().id, 1) << "from where the last lease began";
}

TEST_F(RescanTest, SuchAProbeDoesNotPutOffTheRescanFromTheStart) {
  LeaseTheOnlyTask();
  now_ += milliseconds(500);
  ASSERT_FALSE(BeginProbe(1).from.empty());
  Probe(1, 0);
  EXPECT_EQ(After(milliseconds(500)), "probe 1");
  EXPECT_TRUE(BeginProbe(1).is_rescan);
}

// Past millions of dead rows a rescan takes seconds, in which nothing was leased.
TEST_F(RescanTest, BesideARescanTheLaneIsProbedBehindWhatWasLeased) {
  BeginRescan();
  EXPECT_EQ(Commit(1, 1), "lease 1");
  EXPECT_EQ(Lease(1, 0), "probe 1") << "others were faster";
  EXPECT_FALSE(BeginProbe(1).from.empty());
  EXPECT_EQ(Probe(1, 1), "lease 1");
  EXPECT_EQ(Lease(1, 1), "answer bob: 1 tasks");
}

// It may be older than what a probe beside it saw.
TEST_F(RescanTest, ARescanThatSawNothingDoesNotSayThatALaneIsEmpty) {
  const ProbeStart rescan = BeginRescan();
  EXPECT_EQ(Probe(1, 1), "lease 1") << "of a task that nobody announced";
  EndProbe(1, rescan, 0);
  EXPECT_EQ(Lease(1, 1), "answer bob: 1 tasks");
}

// It began before the rescan lowered the bounds.
TEST_F(RescanTest, AProbeThatSawNothingBehindTheBoundsDoesNotDenyWhatARescanFound) {
  const ProbeStart rescan = BeginRescan();
  Commit(1, 1);
  EXPECT_EQ(Lease(1, 0), "probe 1");
  const ProbeStart ahead = BeginProbe(1);
  EXPECT_EQ(EndProbe(1, rescan, 1), "lease 1");
  EndProbe(1, ahead, 0);
  EXPECT_EQ(Lease(1, 1), "answer bob: 1 tasks");
}

// Only a probe from the start tells when the next task is due.
TEST_F(RescanTest, AfterANotificationOfScheduledTasksTheLaneIsProbedFromTheStart) {
  LeaseTheOnlyTask();
  EXPECT_EQ(Probe(1, 0), "");
  now_ += milliseconds(100);
  EXPECT_EQ(Notify(1, 1, false), "probe 1");
  EXPECT_TRUE(BeginProbe(1).from.empty());
}

// What the probe read first may be older.
TEST_F(RescanTest, SoItIsWhenTheNotificationComesBesideAProbe) {
  const ProbeStart rescan = BeginRescan();
  EXPECT_EQ(Notify(1, 1, false), "probe 1");
  EXPECT_TRUE(BeginProbe(1).from.empty());
  EndProbe(1, rescan, 0);
  EXPECT_TRUE(BeginProbe(1).from.empty());
}

// The lane is read again, but the lease after that does not pass what is known to be over.
TEST_F(RescanTest, TheFirstCallerAfterAWhileKeepsTheBounds) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Commit(1, 9);
  Lease(1, 5);
  now_ += seconds(2);
  EXPECT_EQ(Admit(Caller("bob", {1})), "probe 1");
  EXPECT_TRUE(BeginProbe(1).from.empty());
  EXPECT_EQ(Probe(1, 4), "lease 1");
  EXPECT_EQ(Begin(1).demand.bounds.front().id, 5);
}

// The lane stayed unread for seconds, and callers that do not wait got no answer.
TEST_F(RescanTest, AProbeBehindBoundsThatWereResetMeanwhileDoesNotTellThatALaneIsEmpty) {
  LeaseTheOnlyTask();
  const ProbeStart ahead = BeginProbe(1);
  ASSERT_FALSE(ahead.from.empty());
  EXPECT_EQ(Do([](Scheduler& s, Step& step) { s.SetListening(true, step); }), "");
  EXPECT_EQ(EndProbe(1, ahead, 0), "");
  EXPECT_EQ(After(milliseconds(25)), "probe 1");
  EXPECT_TRUE(BeginProbe(1).from.empty());
}

TEST_F(RescanTest, ALaterLaneServesWhoWaitedForTheRescanOfAnEarlierOne) {
  MakeEmpty(1);
  MakeEmpty(2);
  Admit(Caller("ann", {1, 2}));
  Admit(Caller("bob", {1}));
  Commit(1, 1);
  Lease(1, 1);
  Probe(1, 0);
  now_ += seconds(1);
  EXPECT_EQ(Do([](Scheduler& s, Step& step) { s.Tick(step); }), "probe 1");
  Admit(Caller("cid", {1, 2}));
  EXPECT_EQ(Commit(2, 1), "") << "lane 1 is about to tell";
  ASSERT_TRUE(BeginProbe(1).is_rescan);
  EXPECT_EQ(begun_, "lease 2");
}

// A rescan of seconds is no reason to believe that nobody rescanned.
TEST_F(RescanTest, TheFirstCallerBesideALongRescanIsServedAtOnce) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Commit(1, 9);
  Lease(1, 5);
  now_ += seconds(1);
  EXPECT_EQ(Admit(Caller("bob", {1})), "probe 1; lease 1");
  ASSERT_TRUE(BeginProbe(1).is_rescan);
  Lease(1, 4);
  Commit(1, 9);
  now_ += seconds(5);
  EXPECT_EQ(Admit(Caller("cid", {1})), "lease 1");
}

// It passes rows that others hold locked, and these may let them go.
TEST_F(RescanTest, AProbeLooksAtWhatLeasesSinceTheLastProbePassed) {
  MakeEmpty(1);
  for (const char* name : {"ann", "bob", "cid"}) Admit(Caller(name, {1}));
  Commit(1, 1);
  Lease(1, 1);
  EXPECT_EQ(Probe(1, 10), "lease 1");
  EXPECT_EQ(Lease(1, 10), "answer bob: 5 tasks; answer cid: 5 tasks");
  EXPECT_EQ(Admit(Caller("dan", {1})), "");
  EXPECT_EQ(After(milliseconds(25)), "probe 1");
  const ProbeStart start = BeginProbe(1);
  ASSERT_FALSE(start.from.empty());
  EXPECT_EQ(start.from.front().id, 1);
}

TEST_F(RescanTest, OneFromBeforeAResetDoesNotSayWhichPrioritiesThereAre) {
  const ProbeStart rescan = BeginRescan();
  EXPECT_EQ(Do([](Scheduler& s, Step& step) { s.SetListening(true, step); }), "probe 1");
  EXPECT_EQ(EndProbe(1, rescan, 1), "") << "nothing is leased before the lane is read anew";
  EXPECT_EQ(Probe(1, 1), "lease 1");
}

TEST_F(RescanTest, OneThatFailedIsNobodysError) {
  const ProbeStart rescan = BeginRescan();
  Do([&](Scheduler& s, Step& step) {
    s.EndProbe({1, 0}, rescan, absl::UnavailableError("away"), step);
  });
  EXPECT_EQ(Admit(Caller("cid", {1}, milliseconds(0))), "answer cid: 0 tasks");
}

}  // namespace
}  // namespace skiplane::broker
