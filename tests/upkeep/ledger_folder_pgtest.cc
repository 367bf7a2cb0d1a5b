#include "server/upkeep/ledger_folder.h"

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using testing::IsOk;
using testing::Required;
using testing::TokensOf;

class LedgerFolderTest : public testing::UpkeepHarness {
 protected:
  // Folds everything, in as many passes as it takes; returns their sum. The first time a row keeps
  // its id, so twice.
  LedgerFoldResult Fold() {
    LedgerFoldResult sum = FoldOnce();
    const LedgerFoldResult second = FoldOnce();
    sum.stray_sessions += second.stray_sessions;
    sum.freed += second.freed;
    return sum;
  }
  LedgerFoldResult FoldOnce() {
    Sql("UPDATE skiplane.lease_ledger SET check_time = now() - interval '1 s'");
    LedgerFoldResult sum;
    for (bool is_complete = false; !is_complete;) {
      const LedgerFoldResult pass = Required(folder_.RunOnce(*session_));
      sum.stray_sessions += pass.stray_sessions;
      sum.freed += pass.freed;
      sum.handed_back += pass.handed_back;
      is_complete = pass.is_complete;
    }
    return sum;
  }
  int64_t LedgerEntries() const {
    return Number("SELECT coalesce(sum(cardinality(tasks)), 0) FROM skiplane.lease_ledger");
  }

  LedgerFolder folder_{&metrics_};
};

TEST_F(LedgerFolderTest, LivingLeasesAreKeptAndSettledOnesGo) {
  const pg::Uuid worker = Worker("living");
  Put(4);
  const auto first = Take(2, worker);
  const auto second = Take(2, worker);
  Settle({first[0].task.token}, store::Action::kAck);
  Settle({second[1].task.token}, store::Action::kRelease);
  EXPECT_EQ(Fold().freed, 0);
  EXPECT_EQ(LedgerRows(), 1);
  EXPECT_EQ(LedgerEntries(), 2);
  EXPECT_TRUE(ClassifyOne(first[1].task.token).is_held);
  Silence("living");
  EXPECT_EQ(Reclaim().freed, 2) << "what was folded is found by the reclaimer";
}

// The broker that lost the answer of a lease once asked for a row that had another id by then: its
// tasks stayed leased while their worker lived.
TEST_F(LedgerFolderTest, AYoungRowIsFoundUnderItsId) {
  Put(3);
  store::LeaseDemand demand = Demand({1, 1, 1});
  demand.callers[0].session = Worker("living");
  demand.callers[0].ledger = testing::kLedger;
  const auto leased = Required(store::Lease(*session_, demand)).rows;
  Settle({leased[0].task.token}, store::Action::kAck);
  FoldOnce();
  EXPECT_EQ(LedgerEntries(), 2) << "what is settled goes";
  ASSERT_THAT(store::CloseLedger(*session_, lane_, {{testing::kLedger}}), IsOk());
  EXPECT_EQ(Required(store::FindLeases(*session_, lane_, {}, {{testing::kLedger}})).size(), 2u);
  const std::string rest =
      "SELECT extract(epoch FROM min(check_time) - now())::int8 FROM skiplane.lease_ledger";
  EXPECT_GT(Number(rest), 80) << "and is not folded soon";
}

TEST_F(LedgerFolderTest, ARequestIdKeepsTheIdOfItsRow) {
  Put(2);
  store::LeaseDemand demand = Demand({1, 1});
  demand.callers[0].session = Worker("living");
  demand.callers[0].ledger = testing::kLedger;
  demand.callers[0].request_id = "living r1";
  Required(store::Lease(*session_, demand));
  Fold();
  EXPECT_EQ(Required(store::FindLeases(*session_, lane_, {}, {{testing::kLedger}})).size(), 2u);
}

TEST_F(LedgerFolderTest, RowsWithNothingLeftGo) {
  Put(2);
  Settle(TokensOf(Take(2, Worker("living"))), store::Action::kAck);
  ASSERT_THAT(store::CloseLedger(*session_, lane_, {testing::kLedger}), IsOk());
  Fold();
  EXPECT_EQ(LedgerRows(), 0);
}

TEST_F(LedgerFolderTest, YoungRowsAreLeftAlone) {
  Put(2);
  Settle(TokensOf(Take(2, Worker("living"))), store::Action::kAck);
  EXPECT_EQ(Required(folder_.RunOnce(*session_)).lanes, 0);
  EXPECT_EQ(LedgerRows(), 1);
}

TEST_F(LedgerFolderTest, ARequestIdKeepsItsRowWhileItsLeasesLive) {
  Put(3);
  store::LeaseDemand demand = Demand({1, 1});
  demand.callers[0].session = Worker("living");
  demand.callers[0].request_id = "living r1";
  const auto leased = Required(store::Lease(*session_, demand)).rows;
  TakeOne(demand.callers[0].session);
  Fold();
  EXPECT_EQ(LedgerRows(), 2);
  const auto found = Required(store::FindLeases(*session_, lane_, {"living r1"}, {}));
  EXPECT_EQ(TokensOf(found), TokensOf(leased));
  Settle(TokensOf(leased), store::Action::kAck);
  Fold();
  EXPECT_EQ(LedgerRows(), 1);
}

TEST_F(LedgerFolderTest, WhatIsKeptIsWrittenInRowsOfAtMostTwoThousand) {
  const pg::Uuid worker = Worker("living");
  Put(4500);
  for (int i = 0; i < 9; ++i) Take(500, worker);
  Fold();
  EXPECT_EQ(LedgerEntries(), 4500);
  EXPECT_EQ(LedgerRows(), 3);
  EXPECT_LE(Number("SELECT max(cardinality(tasks)) FROM skiplane.lease_ledger"), 2000);
}

TEST_F(LedgerFolderTest, ManyRowsAreFoldedInOnePass) {
  const pg::Uuid worker = Worker("living");
  Put(70);
  for (int i = 0; i < 70; ++i) TakeOne(worker);
  Fold();
  EXPECT_EQ(LedgerEntries(), 70);
  EXPECT_EQ(LedgerRows(), 4);
}

TEST_F(LedgerFolderTest, LateLeasesOfAnEndedSessionAreHandedBackUncharged) {
  Put(2, {}, 1);
  const pg::Uuid done = Worker("done");
  End("done");
  Reclaim();
  Take(2, done);  // by a broker that believes that it lives
  EXPECT_EQ(Reclaim().handed_back, 0) << "the reclaimer looks again when the session expires";
  const LedgerFoldResult result = Fold();
  EXPECT_EQ(result.handed_back, 2);
  EXPECT_EQ(result.freed, 0);
  EXPECT_EQ(Tasks("state = 1 AND attempt = 0"), 2);
}

TEST_F(LedgerFolderTest, LeasesWhoseSessionHasNoRowAreTakenBack) {
  Put(3);
  const model::LeaseToken kept = TakeOne(Worker("living"));
  Take(2, Worker("deleted"));
  DeleteSession("deleted");
  EXPECT_EQ(Reclaim().freed, 0) << "the reclaimer cannot know of it";
  const LedgerFoldResult result = Fold();
  EXPECT_GE(result.stray_sessions, 1) << "once in each pass until its row is gone";
  EXPECT_EQ(result.freed, 2);
  EXPECT_TRUE(ClassifyOne(kept).is_held);
  EXPECT_EQ(LedgerEntries(), 1);
}

TEST_F(LedgerFolderTest, AStrayWhoseRecoveryFailedIsNotForgotten) {
  PutOne();
  TakeOne(Worker("deleted"));
  DeleteSession("deleted");
  BreakReclaimIn(lane_);
  Sql("UPDATE skiplane.lease_ledger SET check_time = now() - interval '1 s'");
  EXPECT_FALSE(folder_.RunOnce(*session_).ok());
  RepairReclaim();
  const LedgerFoldResult result = Required(folder_.RunOnce(*session_));
  EXPECT_EQ(result.lanes, 0) << "its row is not due";
  EXPECT_EQ(result.freed, 1);
}

}  // namespace
}  // namespace skiplane::upkeep
