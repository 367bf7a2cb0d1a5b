// Calls: each is answered once, with what there is, or with why there is nothing.
#include "gtest/gtest.h"
#include "tests/broker/schedule/scheduler_by_hand.h"

namespace skiplane::broker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kAtOnce{0};

class SchedulerCallTest : public SchedulerByHand {
 protected:
  SchedulerCallTest() : SchedulerByHand({.calls = 3, .lane_stages = 2}) {}

  TicketPtr Repeatable(const std::string& name, milliseconds wait = kWait) {
    TicketPtr ticket = Caller(name, {1}, wait);
    ticket->request_key = "r";
    return ticket;
  }
  std::string Found(const TicketPtr& ticket, size_t count) {
    LeaseAnswer answer;
    answer.tasks.resize(count);
    return Do([&](Scheduler& s, Step& step) { s.EndFind(ticket, answer, step); });
  }
  // The paused queues that the answer names, which the ticket gets at once.
  std::vector<std::string> PausedFor(const TicketPtr& ticket) {
    Step step{now_};
    scheduler_.Admit(ticket, step);
    const auto* const answer = std::get_if<Answer>(&step.actions.back());
    if (answer == nullptr || !answer->answer.ok()) return {"no answer"};
    return answer->answer->paused_queues;
  }
};

TEST_F(SchedulerCallTest, AWaitEndsEmptyAtItsDeadline) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}, seconds(2)));
  EXPECT_EQ(scheduler_.NextWake(), now_ + seconds(2));
  EXPECT_EQ(After(milliseconds(1999)), "");
  EXPECT_EQ(After(milliseconds(1)), "answer ann: 0 tasks");
  EXPECT_EQ(Commit(1, 1), "") << "nobody waits any more";
}

TEST_F(SchedulerCallTest, AWaitThatEndsDuringItsStatementGetsWhatThatLeases) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}, seconds(1)));
  Commit(1, 1);
  LeaseRun run = Begin(1);
  EXPECT_EQ(After(seconds(1)), "");
  EXPECT_EQ(End(run, 1), "answer ann: 1 tasks");
  MakeEmpty(2);
  Admit(Caller("bob", {2}, seconds(1)));
  Commit(2, 1);
  run = Begin(2);
  EXPECT_EQ(After(seconds(1)), "");
  EXPECT_EQ(End(run, 0), "answer bob: 0 tasks");
}

TEST_F(SchedulerCallTest, ACallThatDoesNotWaitIsToldOfNothingWhenAllItsLanesAreEmpty) {
  MakeEmpty(1);
  EXPECT_EQ(Admit(Caller("ann", {1, 2}, kAtOnce)), "probe 2");
  EXPECT_EQ(Probe(2, 0), "answer ann: 0 tasks");
  EXPECT_EQ(Admit(Caller("bob", {1, 2}, kAtOnce)), "answer bob: 0 tasks");
}

// What became due since the lane was probed is there, though no alarm was set for it.
TEST_F(SchedulerCallTest, ACallThatDoesNotWaitNoticesWhatBecameDue) {
  MakeEmpty(1);
  EXPECT_EQ(Commit(1, 1, absl::Milliseconds(500)), "");
  EXPECT_EQ(Admit(Caller("ann", {1}, kAtOnce)), "answer ann: 0 tasks");
  now_ += milliseconds(500);
  EXPECT_EQ(Admit(Caller("bob", {1}, kAtOnce)), "lease 1");
  EXPECT_EQ(Lease(1, 1), "answer bob: 1 tasks");
}

// Lane 1 had nothing for it, and then got something.
TEST_F(SchedulerCallTest, ALaneThatWasEmptyMayHaveSomethingByNow) {
  MakeEmpty(1);
  EXPECT_EQ(Admit(Caller("ann", {2, 1}, kAtOnce)), "probe 2");
  EXPECT_EQ(Commit(1, 1), "") << "lane 2 comes first";
  EXPECT_EQ(Probe(2, 0), "lease 1");
  EXPECT_EQ(Lease(1, 1), "answer ann: 1 tasks");
}

TEST_F(SchedulerCallTest, ACallThatDoesNotWaitIsToldTheErrorOfALane) {
  EXPECT_EQ(Admit(Caller("ann", {1}, kAtOnce)), "probe 1");
  EXPECT_EQ(FailProbe(1), "answer ann: UNAVAILABLE");
  EXPECT_EQ(Admit(Caller("bob", {1})), "") << "the next probe comes a little later";
  EXPECT_EQ(After(milliseconds(200)), "probe 1");
}

// A lane failed before, and has not been asked since: that says nothing of it.
TEST_F(SchedulerCallTest, ACallThatDoesNotWaitIsNotToldOfNothingByALaneThatFailedAndWorksNow) {
  EXPECT_EQ(Admit(Caller("ann", {1}, kAtOnce)), "probe 1");
  FailProbe(1);
  now_ += seconds(1);
  EXPECT_EQ(Admit(Caller("bob", {1}, kAtOnce)), "probe 1");
  EXPECT_EQ(Probe(1, 2), "lease 1");
  EXPECT_EQ(Lease(1, 2), "answer bob: 2 tasks");
}

TEST_F(SchedulerCallTest, AShortStatementDoesNotSayThatThereIsNothing) {
  MakeEmpty(1);
  Commit(1, 1);
  EXPECT_EQ(Admit(Caller("ann", {1}, kAtOnce)), "lease 1");
  EXPECT_EQ(Lease(1, 0), "probe 1") << "others may hold rows locked that they do not take";
  EXPECT_EQ(Probe(1, 0), "answer ann: 0 tasks");
}

TEST_F(SchedulerCallTest, AStatementThatFailedIsToldToACallThatDoesNotWait) {
  MakeEmpty(1);
  Commit(1, 1);
  Admit(Caller("ann", {1}, kAtOnce));
  Admit(Caller("bob", {1}));
  LeaseRun run = Begin(1);
  EXPECT_EQ(FailLease(run), "answer ann: UNAVAILABLE");
}

TEST_F(SchedulerCallTest, APausedQueueIsNamedInTheAnswer) {
  Pause(1);
  EXPECT_EQ(PausedFor(Caller("ann", {1}, kAtOnce)), std::vector<std::string>{"q1"});
}

// With another queue between two of its stages it was once named twice.
TEST_F(SchedulerCallTest, APausedQueueIsNamedOnceHoweverManyOfItsStagesAreWanted) {
  Pause(1);
  Pause(2);
  const TicketPtr ann = Caller("ann", {1, 2, 1}, kAtOnce);
  ann->wanted.front().lane_stage.stage = 1;
  EXPECT_EQ(PausedFor(ann), (std::vector<std::string>{"q1", "q2"}));
}

TEST_F(SchedulerCallTest, ACancelledCallIsAnsweredAndItsTasksGoBack) {
  MakeEmpty(1);
  const TicketPtr ann = Caller("ann", {1});
  const TicketPtr bob = Caller("bob", {1});
  Admit(ann);
  EXPECT_EQ(Cancel(ann), "answer ann: 0 tasks");
  EXPECT_EQ(Cancel(ann), "") << "once";
  Admit(bob);
  Commit(1, 2);
  LeaseRun run = Begin(1);
  EXPECT_EQ(Cancel(bob), "");
  EXPECT_EQ(End(run, 2), "answer bob: 0 tasks; hand back 2");
}

TEST_F(SchedulerCallTest, WithARequestIdTheyAreKeptForTheRepeat) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann");
  EXPECT_EQ(Admit(ann), "find ann later");
  EXPECT_EQ(Found(ann, 0), "");
  Commit(1, 2);
  LeaseRun run = Begin(1);
  Cancel(ann);
  EXPECT_EQ(End(run, 2), "answer ann: 0 tasks");
}

TEST_F(SchedulerCallTest, ARepeatGetsWhatItsFirstCallGot) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann");
  EXPECT_EQ(Admit(ann), "find ann later");
  EXPECT_EQ(Found(ann, 4), "answer ann: 4 tasks");
}

// Its first call need not have got its tasks where this one would get some first.
TEST_F(SchedulerCallTest, ARepeatForSeveralQueuesLooksBeforeItLeases) {
  MakeEmpty(1);
  MakeEmpty(2);
  const TicketPtr ann = Caller("ann", {1, 2});
  ann->request_key = "r";
  EXPECT_EQ(Admit(ann), "find ann");
  EXPECT_EQ(Commit(1, 1), "");
  EXPECT_EQ(Found(ann, 0), "lease 1");
}

// Another broker's statement, for the call that this one repeats, may be committed after the look.
TEST_F(SchedulerCallTest, ARepeatIsToldOfNothingOnlyAfterALookAtTheEndOfItsWait) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann", seconds(2));
  Admit(ann);
  EXPECT_EQ(Found(ann, 0), "");
  EXPECT_EQ(After(seconds(2)), "find ann later");
  EXPECT_EQ(Found(ann, 2), "answer ann: 2 tasks");
  const TicketPtr bob = Repeatable("bob", seconds(1));
  Admit(bob);
  EXPECT_EQ(After(seconds(1)), "find bob") << "there is less time for a short wait";
  EXPECT_EQ(Found(bob, 0), "") << "the look of the beginning";
  EXPECT_EQ(Found(bob, 0), "answer bob: 0 tasks");
}

// The adversary's: a lease that waited for 5 ms was refused as if the database had gone.
TEST_F(SchedulerCallTest, TheLastLookAfterAShortWaitHasTheTimeThatTheDeadlineLeaves) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann", milliseconds(5));
  Admit(ann);
  Found(ann, 0);
  EXPECT_EQ(After(milliseconds(5)), "find ann");
  EXPECT_EQ(After(milliseconds(299)), "");
  EXPECT_EQ(Found(ann, 0), "answer ann: 0 tasks");
  const TicketPtr bob = Repeatable("bob", milliseconds(5));
  bob->call.last_look = absl::Milliseconds(20);
  Admit(bob);
  Found(bob, 0);
  EXPECT_EQ(After(milliseconds(5)), "find bob");
  EXPECT_EQ(After(milliseconds(20)), "answer bob: UNAVAILABLE") << "the deadline is near";
}

// The caller's deadline is near.
TEST_F(SchedulerCallTest, ALastLookThatTakesLongEndsTheCall) {
  MakeEmpty(1);
  Admit(Repeatable("ann", seconds(2)));
  EXPECT_EQ(After(seconds(2)), "find ann later");
  EXPECT_EQ(After(milliseconds(299)), "");
  EXPECT_EQ(After(milliseconds(1)), "answer ann: UNAVAILABLE");
}

TEST_F(SchedulerCallTest, ARepeatThatDoesNotWaitIsToldOfNothingAfterALook) {
  MakeEmpty(1);
  EXPECT_EQ(Admit(Repeatable("ann", kAtOnce)), "find ann");
}

TEST_F(SchedulerCallTest, AStatementLooksForThoseForWhomNobodyHas) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann");
  Admit(ann);
  Commit(1, 1);
  EXPECT_EQ(Begin(1).unsought, std::vector<std::string>{"r"});
  MakeEmpty(2);
  const TicketPtr bob = Caller("bob", {2});
  bob->request_key = "s";
  Admit(bob);
  Found(bob, 0);
  Commit(2, 1);
  EXPECT_TRUE(Begin(2).unsought.empty());
}

TEST_F(SchedulerCallTest, ARepeatTakesThePlaceOfACallThatWaits) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann");
  Admit(ann);
  Found(ann, 0);
  EXPECT_EQ(Admit(Repeatable("again")), "answer ann: 0 tasks; find again");
}

TEST_F(SchedulerCallTest, ARepeatWaitsForTheStatementOfItsFirstCallAndNoLonger) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann");
  Admit(ann);
  Commit(1, 1);
  LeaseRun run = Begin(1);
  EXPECT_EQ(Admit(Repeatable("second")), "");
  EXPECT_EQ(Admit(Repeatable("third")), "answer second: 0 tasks");
  EXPECT_EQ(End(run, 0), "answer ann: 0 tasks; find third");
}

TEST_F(SchedulerCallTest, ACallWhoseRequestIdIsTakenLooksAgainAndGivesUpInTheEnd) {
  MakeEmpty(1);
  const TicketPtr ann = Repeatable("ann");
  Admit(ann);
  std::string told = Found(ann, 0);
  for (int i = 0; i < 10; ++i) {
    if (i == 0) told = Commit(1, 1);
    ASSERT_EQ(told, "lease 1") << i;
    LeaseRun run = Begin(1);
    told = Do([&](Scheduler& s, Step& step) {
      s.EndLease(run, absl::AlreadyExistsError("taken"), step);
    });
    if (i == 9) break;
    ASSERT_EQ(told, "find ann") << i;
    told = Found(ann, 0);
  }
  EXPECT_EQ(told, "answer ann: ABORTED");
}

TEST_F(SchedulerCallTest, TooManyWaitingCallsAreRefused) {
  MakeEmpty(1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Admit(Caller("ann", {1})), "");
  EXPECT_EQ(Admit(Caller("bob", {1})), "answer bob: RESOURCE_EXHAUSTED");
  EXPECT_EQ(Admit(Caller("cid", {1}, kAtOnce)), "answer cid: 0 tasks");
}

TEST_F(SchedulerCallTest, WhoWaitsForTooManyLaneStagesIsRefusedUntilOthersLeave) {
  for (int64_t lane = 1; lane <= 3; ++lane) MakeEmpty(lane);
  const TicketPtr wide = Caller("ann", {1, 2, 3});
  EXPECT_EQ(Admit(wide), "");
  EXPECT_EQ(Admit(Caller("bob", {1, 2})), "answer bob: RESOURCE_EXHAUSTED");
  EXPECT_EQ(Admit(Caller("bob", {1, 2}, kAtOnce)), "answer bob: RESOURCE_EXHAUSTED");
  EXPECT_EQ(Admit(Caller("bob", {1}, kAtOnce)), "answer bob: 0 tasks");
  EXPECT_EQ(Cancel(wide), "answer ann: 0 tasks");
  EXPECT_EQ(Admit(Caller("bob", {1, 2})), "");
}

TEST_F(SchedulerCallTest, ADrainEndsWhatWaitsAndRefusesTheRest) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Admit(Caller("bob", {2}, kAtOnce));
  Commit(1, 2);
  LeaseRun run = Begin(1);
  Admit(Caller("cid", {1}));
  EXPECT_EQ(Do([](Scheduler& s, Step& step) { s.BeginDrain(step); }),
            "answer cid: 0 tasks; answer bob: UNAVAILABLE")
      << "of lane 2 nobody knows whether it is empty";
  EXPECT_EQ(Admit(Caller("dan", {1})), "answer dan: UNAVAILABLE");
  EXPECT_EQ(End(run, 2), "answer ann: 2 tasks") << "its statement was on its way";
}

TEST_F(SchedulerCallTest, WhoWaitsIsAnsweredWhenRulesChangeAndWhoComesLaterWaits) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  EXPECT_EQ(Do([](Scheduler& s, Step& step) { s.EndWaits(step); }), "answer ann: 0 tasks");
  EXPECT_EQ(Admit(Caller("bob", {1})), "");
}

// Its acks were committed meanwhile, or what it got before was looked for.
TEST_F(SchedulerCallTest, WhoCameBeforeRulesChangedAndIsHereLaterDoesNotWait) {
  MakeEmpty(1);
  const TicketPtr ann = Caller("ann", {1});
  now_ += std::chrono::milliseconds(1);
  Do([](Scheduler& s, Step& step) { s.EndWaits(step); });
  EXPECT_EQ(Admit(ann), "answer ann: 0 tasks");
}

// What it may have then is asked for anew, by its next call.
TEST_F(SchedulerCallTest, WhoseStatementRunsWhenRulesChangeWaitsNoLongerThanThat) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  EXPECT_EQ(Commit(1, 1), "lease 1");
  LeaseRun run = Begin(1);
  EXPECT_EQ(Do([](Scheduler& s, Step& step) { s.EndWaits(step); }), "");
  EXPECT_EQ(End(run, 0), "answer ann: 0 tasks");
}

}  // namespace
}  // namespace skiplane::broker
