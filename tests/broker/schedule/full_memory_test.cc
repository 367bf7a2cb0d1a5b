// Answers that are not read fill the memory: nothing more is leased, or nothing to who reads none.
#include "gtest/gtest.h"
#include "tests/broker/schedule/scheduler_by_hand.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::milliseconds kNoWait{0};

class FullMemoryTest : public SchedulerByHand {
 protected:
  std::string SetMemoryFull(bool is_full) {
    scheduler_.SetFullMemory({is_full});
    if (is_full) return "";
    return Do([](Scheduler& s, Step& step) { s.MemoryFreed(step); });
  }
};

TEST_F(FullMemoryTest, WhileAnswersFillTheMemoryNothingIsLeased) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  SetMemoryFull(true);
  EXPECT_EQ(Commit(1, 2), "held back 1");
  EXPECT_EQ(Admit(Caller("bob", {1}, kNoWait)), "answer bob: RESOURCE_EXHAUSTED");
  EXPECT_EQ(SetMemoryFull(false), "lease 1");
  SetMemoryFull(true);
  EXPECT_EQ(Begin(1).tickets.size(), 0u) << "it filled up before there was a connection";
  EXPECT_EQ(begun_, "held back 1");
  EXPECT_EQ(SetMemoryFull(false), "lease 1");
  EXPECT_EQ(Lease(1, 2), "answer ann: 2 tasks");
}

TEST_F(FullMemoryTest, WhoDoesNotReadItsAnswersIsPassedByAndOthersAreServed) {
  MakeEmpty(1);
  const TicketPtr deaf = Caller("deaf", {1});
  deaf->call.party = "deaf";
  Admit(deaf);
  Admit(Caller("ann", {1}));
  scheduler_.SetFullMemory({.parties = {"deaf"}});
  EXPECT_EQ(Commit(1, 10), "held back 1; lease 1");
  EXPECT_EQ(Lease(1, 5), "answer ann: 5 tasks; held back 1") << "nothing more, though it waits";
  const TicketPtr hasty = Caller("hasty", {1}, kNoWait);
  hasty->call.party = "deaf";
  EXPECT_EQ(Admit(hasty), "answer hasty: RESOURCE_EXHAUSTED");
  EXPECT_EQ(SetMemoryFull(false), "lease 1");
  EXPECT_EQ(Lease(1, 5), "answer deaf: 5 tasks");
}

TEST_F(FullMemoryTest, WhoMayNotWaitIsRefusedOnceItsPartyIsFull) {
  MakeEmpty(1);
  Admit(Caller("ann", {1}));
  EXPECT_EQ(Commit(1, 1), "lease 1");
  LeaseRun run = Begin(1);
  const TicketPtr hasty = Caller("hasty", {1}, kNoWait);
  hasty->call.party = "deaf";
  Admit(hasty);
  scheduler_.SetFullMemory({.parties = {"deaf"}});
  EXPECT_EQ(Commit(1, 1), "held back 1; answer hasty: RESOURCE_EXHAUSTED");
  EXPECT_EQ(End(run, 1), "answer ann: 1 tasks");
}

TEST_F(FullMemoryTest, WhoDoesNotReadTakesNothingMoreElsewhere) {
  MakeEmpty(1);
  MakeEmpty(2);
  const TicketPtr deaf = Caller("deaf", {1, 2});
  deaf->call.party = "deaf";
  Admit(deaf);
  Commit(1, 1);
  LeaseRun run = Begin(1);
  Commit(2, 1);
  scheduler_.SetFullMemory({.parties = {"deaf"}});
  EXPECT_EQ(End(run, 1), "answer deaf: 1 tasks");
}

}  // namespace
}  // namespace skiplane::broker
