// Leases in the transaction of an ack.
#include "gtest/gtest.h"
#include "tests/broker/schedule/scheduler_by_hand.h"

namespace skiplane::broker {
namespace {

using std::chrono::seconds;

class ReservationTest : public SchedulerByHand {
 protected:
  // Lane 1 is known to have so many tasks, of which nobody waits.
  void MakeReady(int64_t count) {
    MakeEmpty(1);
    Commit(1, count);
  }
  std::optional<model::LaneStage> Find(const TicketPtr& ticket, int64_t lane = 1) {
    return scheduler_.FindReservable(*ticket, lane, now_);
  }
  LeaseRun Reserve(const TicketPtr& ticket) {
    LeaseRun run;
    Do([&](Scheduler& s, Step& step) { run = s.Reserve({1, 0}, {ticket}, step); });
    return run;
  }
};

TEST_F(ReservationTest, TakesWhatIsKnownToBeThere) {
  MakeReady(3);
  const TicketPtr ann = Caller("ann", {1});
  ASSERT_EQ(Find(ann), (model::LaneStage{1, 0}));
  LeaseRun run = Reserve(ann);
  EXPECT_EQ(run.demand.slots.size(), 3u);
  EXPECT_EQ(End(run, 3), "answer ann: 3 tasks");
}

TEST_F(ReservationTest, OneThatGetsNothingIsDeclinedAndMayBeAdmitted) {
  MakeReady(3);
  const TicketPtr ann = Caller("ann", {1});
  LeaseRun run = Reserve(ann);
  EXPECT_EQ(End(run, 0), "decline ann");
  EXPECT_EQ(Admit(Caller("ann", {1})), "probe 1");
  EXPECT_EQ(Probe(1, 1), "lease 1");
  EXPECT_EQ(Lease(1, 1), "answer ann: 1 tasks");
}

TEST_F(ReservationTest, OneThatFailedIsDeclined) {
  MakeReady(3);
  LeaseRun run = Reserve(Caller("ann", {1}));
  EXPECT_EQ(FailLease(run), "decline ann");
}

// Its success said that the lane works; what the failed probe had told bob was forgotten then.
TEST_F(ReservationTest, OneThatEndsAfterAFailedProbeDoesNotMakeTheLaneEmpty) {
  MakeReady(3);
  LeaseRun run = Reserve(Caller("ann", {1}));
  EXPECT_EQ(Admit(Caller("bob", {1, 2}, seconds(0))), "probe 1; probe 2");
  EXPECT_EQ(FailProbe(1), "");
  EXPECT_EQ(End(run, 3), "answer ann: 3 tasks");
  EXPECT_EQ(Probe(2, 0), "") << "nobody has looked into lane 1";
  EXPECT_EQ(After(seconds(1)), "probe 1");
  EXPECT_EQ(Probe(1, 0), "answer bob: 0 tasks");
}

TEST_F(ReservationTest, OneWhoseTransactionWasRolledBackIsDeclinedAndTheTasksAreThereStill) {
  MakeReady(3);
  const TicketPtr ann = Caller("ann", {1});
  LeaseRun run = Reserve(ann);
  EXPECT_FALSE(Find(Caller("bob", {1})).has_value());
  EXPECT_EQ(Do([&](Scheduler& s, Step& step) { s.Withdraw(run, step); }), "decline ann");
  EXPECT_TRUE(Find(Caller("bob", {1})).has_value());
}

TEST_F(ReservationTest, LeavesToThoseWhoWaitWhatTheyWant) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  Commit(1, 5);
  EXPECT_FALSE(Find(Caller("bob", {1})).has_value()) << "ann wants five";
  Commit(1, 2);
  ASSERT_TRUE(Find(Caller("bob", {1})).has_value());
  EXPECT_EQ(Reserve(Caller("bob", {1})).demand.slots.size(), 2u);
}

TEST_F(ReservationTest, IsInTheLaneOfTheAckAndInItsTurn) {
  MakeReady(3);
  EXPECT_FALSE(Find(Caller("ann", {1}), /*lane=*/2).has_value());
  EXPECT_FALSE(Find(Caller("ann", {2, 1})).has_value()) << "nobody knows of lane 2";
  MakeEmpty(2);
  EXPECT_TRUE(Find(Caller("ann", {2, 1})).has_value());
  Commit(2, 1);
  EXPECT_FALSE(Find(Caller("ann", {2, 1})).has_value()) << "lane 2 comes first";
}

TEST_F(ReservationTest, IsNotMadeWhereNothingMayBeLeased) {
  MakeReady(3);
  const TicketPtr ann = Caller("ann", {1});
  scheduler_.SetFullMemory({true});
  EXPECT_FALSE(Find(ann).has_value());
  scheduler_.SetFullMemory({});
  Pause(1);
  EXPECT_FALSE(Find(ann).has_value());
  Pause(1, false);
  EXPECT_TRUE(Find(ann).has_value());
  Do([](Scheduler& s, Step& step) { s.BeginDrain(step); });
  EXPECT_FALSE(Find(ann).has_value());
}

TEST_F(ReservationTest, IsNotMadeForWhoDoesNotReadItsAnswers) {
  MakeReady(3);
  const TicketPtr deaf = Caller("deaf", {1});
  deaf->call.party = "deaf";
  scheduler_.SetFullMemory({.parties = {"deaf"}});
  EXPECT_EQ(Find(deaf), std::nullopt);
  EXPECT_EQ(Find(Caller("ann", {1})), (model::LaneStage{1, 0}));
}

TEST_F(ReservationTest, IsNotMadeForARepeatOfACallThatIsOnItsWay) {
  MakeReady(3);
  const TicketPtr ann = Caller("ann", {1});
  ann->request_key = "r";
  EXPECT_EQ(Admit(ann), "lease 1; find ann later");
  const TicketPtr again = Caller("again", {1});
  again->request_key = "r";
  EXPECT_FALSE(Find(again).has_value());
}

// Reservations alone would go on from the bounds that they raised, past what was given back.
TEST_F(ReservationTest, OnceASecondACallIsAdmittedSoThatTheLaneIsRescanned) {
  MakeReady(20);
  LeaseRun run = Reserve(Caller("ann", {1}));
  EXPECT_EQ(End(run, 5), "answer ann: 5 tasks");
  EXPECT_TRUE(Find(Caller("bob", {1})).has_value());
  now_ += seconds(1);
  EXPECT_FALSE(Find(Caller("bob", {1})).has_value());
  EXPECT_EQ(Admit(Caller("bob", {1})), "probe 1; lease 1");
}

}  // namespace
}  // namespace skiplane::broker
