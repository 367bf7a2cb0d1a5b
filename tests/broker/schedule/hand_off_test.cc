// Leases by the statement that makes the tasks.
#include "gtest/gtest.h"
#include "tests/broker/schedule/scheduler_by_hand.h"

namespace skiplane::broker {
namespace {

class HandOffTest : public SchedulerByHand {
 protected:
  TicketPtr Repeatable(const std::string& name) {
    TicketPtr ticket = Caller(name, {1});
    ticket->request_key = name;
    return ticket;
  }
  // A look for it finds nothing.
  std::string Find(const TicketPtr& ticket) {
    return Do([&](Scheduler& s, Step& step) { s.EndFind(ticket, LeaseAnswer(), step); });
  }
  // The statement finds that a request id is taken.
  std::string EndTaken(LeaseRun& run) {
    return Do([&](Scheduler& s, Step& step) {
      s.EndLease(run, absl::AlreadyExistsError("taken"), step);
    });
  }
  LeaseRun HandOff(int64_t count, int64_t lane = 1) {
    LeaseRun run;
    begun_ = Do([&](Scheduler& s, Step& step) { run = s.HandOff({lane, 0}, count, step); });
    return run;
  }
};

TEST_F(HandOffTest, AWaitingCallerGetsWhatIsMade) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  LeaseRun run = HandOff(3);
  EXPECT_EQ(run.demand.slots.size(), 3u);
  EXPECT_EQ(End(run, 3), "answer ann: 3 tasks");
}

TEST_F(HandOffTest, NobodyWaitsWhereNobodyEverWas) {
  EXPECT_TRUE(HandOff(3).tickets.empty());
  MakeEmpty(1);
  EXPECT_TRUE(HandOff(3).tickets.empty());
}

TEST_F(HandOffTest, TheLaneStaysEmptyForTheNextOne) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Admit(Caller("bob", {1}));
  LeaseRun first = HandOff(1);
  LeaseRun second = HandOff(1);
  EXPECT_EQ(End(second, 1), "answer bob: 1 tasks");
  EXPECT_EQ(End(first, 1), "answer ann: 1 tasks");
}

TEST_F(HandOffTest, NotBeforeAProbeHasTold) {
  EXPECT_EQ(Admit(Caller("ann", {1})), "probe 1");
  EXPECT_TRUE(HandOff(1).tickets.empty());
  Probe(1, 0);
  EXPECT_FALSE(HandOff(1).tickets.empty());
}

// A probe that waits for its time to be over would find tasks that came meanwhile, and so on.
TEST_F(HandOffTest, TheLaneIsProbedAgainWhileItIsTakenForEmpty) {
  Do([](Scheduler& s, Step& step) { s.SetListening(true, step); });
  EXPECT_EQ(Admit(Caller("ann", {1})), "probe 1");
  Probe(1, 0);
  Admit(Caller("bob", {1}));
  now_ += std::chrono::milliseconds(3500);
  LeaseRun run = HandOff(1);
  EXPECT_EQ(begun_, "probe 1");
  Admit(Caller("cid", {1}));
  LeaseRun beside = HandOff(1);
  EXPECT_EQ(End(run, 1), "answer ann: 1 tasks");
  EXPECT_EQ(Probe(1, 0), "");
  EXPECT_EQ(End(beside, 1), "answer bob: 1 tasks");
  now_ += std::chrono::milliseconds(2500);
  EXPECT_FALSE(HandOff(1).tickets.empty());
}

TEST_F(HandOffTest, NotBeforeTasksThatAreKnown) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  EXPECT_EQ(Commit(1, 1), "lease 1");
  EXPECT_TRUE(HandOff(1).tickets.empty());
  EXPECT_EQ(Lease(1, 1), "answer ann: 1 tasks");
  Admit(Caller("bob", {1}));
  EXPECT_FALSE(HandOff(1).tickets.empty()) << "it asked for one more, and there was none";
}

TEST_F(HandOffTest, NotAfterALeaseThatGotAllThatItAskedFor) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  EXPECT_EQ(Commit(1, 5), "lease 1");
  EXPECT_EQ(Lease(1, 5), "answer ann: 5 tasks");
  Admit(Caller("bob", {1}));
  EXPECT_TRUE(HandOff(1).tickets.empty());
}

TEST_F(HandOffTest, NotAfterALeaseBesideWhichTasksCame) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  EXPECT_EQ(Commit(1, 1), "lease 1");
  LeaseRun run = Begin(1);
  Commit(1, 1);
  EXPECT_EQ(End(run, 1), "answer ann: 1 tasks");
  EXPECT_EQ(Admit(Caller("bob", {1})), "lease 1");
  EXPECT_TRUE(HandOff(1).tickets.empty());
}

TEST_F(HandOffTest, NotBeforeATaskThatHasJustComeDue) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Commit(1, 1, absl::Seconds(1));
  now_ += std::chrono::seconds(1);
  EXPECT_TRUE(HandOff(1).tickets.empty());
}

TEST_F(HandOffTest, NothingOfAPausedQueue) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Pause(1);
  EXPECT_TRUE(HandOff(1).tickets.empty());
}

TEST_F(HandOffTest, NotToACallerForWhomAnEarlierLaneHasTasks) {
  MakeEmpty(1);
  MakeEmpty(2);
  Admit(Caller("ann", {2, 1}));
  EXPECT_EQ(Commit(2, 1), "lease 2");
  EXPECT_TRUE(HandOff(1).tickets.empty());
}

TEST_F(HandOffTest, WhoGetsNothingWaitsOn) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  LeaseRun run = HandOff(1);
  EXPECT_EQ(End(run, 0), "");
  LeaseRun again = HandOff(1);
  EXPECT_EQ(End(again, 1), "answer ann: 1 tasks");
}

TEST_F(HandOffTest, WhatComesForACallerThatIsGoneGoesBack) {
  MakeEmpty(1);
  const TicketPtr ann = Caller("ann", {1});
  Admit(ann);
  LeaseRun run = HandOff(1);
  EXPECT_EQ(Cancel(ann), "");
  EXPECT_EQ(End(run, 1), "answer ann: 0 tasks; hand back 1");
}

// The index of the ledger tells whether its earlier call got something.
TEST_F(HandOffTest, WhoMayRepeatACallNeedNotBeLookedForFirst) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann");
  EXPECT_EQ(Admit(ann), "find ann later");
  LeaseRun run = HandOff(3);
  EXPECT_EQ(Find(ann), "");
  EXPECT_EQ(End(run, 3), "answer ann: 3 tasks");
}

TEST_F(HandOffTest, WhoseRequestIdIsTakenLooksForWhatItGot) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann");
  Admit(ann);
  Admit(Caller("bob", {1}));
  LeaseRun run = HandOff(2);
  EXPECT_EQ(EndTaken(run), "find ann");
  LeaseRun next = HandOff(2);
  EXPECT_EQ(End(next, 2), "answer bob: 2 tasks") << "the lane is as empty as before";
}

// Ten times, and a caller whose id was never taken was told that others lease under it.
TEST_F(HandOffTest, WhoseRequestIdIsNotTakenWaitsOn) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann");
  const TicketPtr bob = Repeatable("bob");
  Admit(ann);
  Admit(bob);
  LeaseRun run = HandOff(2);
  run.taken_ids = {ann->RequestIdIn({1, 0})};
  EXPECT_EQ(EndTaken(run), "find ann");
  LeaseRun next = HandOff(1);
  EXPECT_EQ(End(next, 1), "answer bob: 1 tasks");
}

TEST_F(HandOffTest, AfterALostAnswerTheLaneIsProbed) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  LeaseRun run = HandOff(1);
  EXPECT_EQ(FailLease(run), "");
  EXPECT_TRUE(HandOff(1).tickets.empty());
  EXPECT_EQ(After(std::chrono::seconds(1)), "probe 1");
}

}  // namespace
}  // namespace skiplane::broker
