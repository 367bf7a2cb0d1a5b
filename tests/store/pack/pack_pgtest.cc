// What is done to single tasks of a pack gives them rows of their own first.
#include "server/store/pack.h"

#include <thread>

#include "gmock/gmock.h"
#include "server/sql/queries.h"
#include "server/store/clock.h"
#include "server/store/reclaim.h"
#include "server/store/sessions.h"
#include "server/store/task_change.h"
#include "server/store/task_view.h"
#include "tests/store/pack/packer.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::kOtherWorker;
using testing::kWorker;
using testing::Required;
using Kind = model::TaskChange::Kind;

class PackTest : public testing::StoreHarness {
 protected:
  // Ten tasks, of which a worker holds the first four: tokens as their lease would have given them.
  PackTest() {
    ids_ = Put(10);
    Sql("UPDATE skiplane.task SET schedule_time = now() - interval '1 s', "
        "create_time = now() - interval '1 s'");
    tokens_ = testing::TokensOf(Take(4));
    Sql(testing::PackTasks());
    for (size_t i = 0; i < tokens_.size(); ++i) {
      tokens_[i].block = model::LeaseToken::kPackBlock;
      tokens_[i].offset = static_cast<uint16_t>(i);
    }
  }

  int64_t Packed() { return Number("SELECT count(*) FROM skiplane.packed_task"); }
  int64_t InRows() { return Number("SELECT count(*) FROM skiplane.task"); }
  model::TaskState StateOf(size_t index) {
    return Required(GetTask(*session_, {lane_, ids_[index]})).state;
  }
  size_t Change(Kind kind, std::vector<size_t> indexes) {
    std::vector<int64_t> ids;
    for (const size_t index : indexes) ids.push_back(ids_[index]);
    model::TaskChange change;
    change.kind = kind;
    return Required(ChangeTasks(*session_, TaskTable::kLiving, lane_, ids, change,
                                model::QueueSettings()))
        .tasks.size();
  }

  std::vector<int64_t> ids_;
  std::vector<model::LeaseToken> tokens_;
};

TEST_F(PackTest, ALeasedTaskIsAckedByItself) {
  EXPECT_EQ(Settle({tokens_[1]}, Action::kAck), 1);
  EXPECT_EQ(StateOf(1), model::TaskState::kSucceeded);
  EXPECT_EQ(Packed(), 9);
  EXPECT_EQ(InRows(), 0);
}

TEST_F(PackTest, AFailedTaskIsRetriedInARow) {
  EXPECT_EQ(Settle({tokens_[2]}, Action::kRetry), 1);
  EXPECT_EQ(Required(GetTask(*session_, {lane_, ids_[2]})).attempt, 1);
  EXPECT_EQ(Packed(), 9);
  EXPECT_EQ(InRows(), 1);
}

TEST_F(PackTest, AReleasedTaskGoesBackToItsPosition) {
  EXPECT_EQ(Settle({tokens_[3], tokens_[0]}, Action::kRelease), 2);
  EXPECT_THAT(testing::IdsOf(Take(9)), ElementsAre(ids_[0], ids_[3]));
}

TEST_F(PackTest, ATokenOfAnotherLeaseChangesNothing) {
  model::LeaseToken forged = tokens_[0];
  ++forged.lease_number;
  EXPECT_EQ(Settle({forged}, Action::kAck), 0);
  forged = tokens_[0];
  forged.session = kOtherWorker;
  EXPECT_EQ(Settle({forged}, Action::kAck), 0);
  EXPECT_TRUE(ClassifyOne(forged).lives);
  EXPECT_FALSE(ClassifyOne(forged).is_held);
  EXPECT_TRUE(ClassifyOne(tokens_[0]).is_held);
  EXPECT_EQ(Settle({tokens_[0]}, Action::kAck), 1);
}

TEST_F(PackTest, ATokenOfAnotherLeaseIsNotAnsweredForTheTrueOneBesideIt) {
  model::LeaseToken forged = tokens_[1];
  --forged.lease_number;
  const auto acked = AckByLocation(*session_, Batch({tokens_[0], forged, tokens_[1]}));
  EXPECT_THAT(acked, testing::IsOkAndHolds(ElementsAre(0, 2)));
}

TEST_F(PackTest, ATaskThatIsNamedTwiceWithAnotherLeaseBetweenCountsOnce) {
  model::LeaseToken forged = tokens_[0];
  --forged.lease_number;
  const auto acked = AckByLocation(*session_, Batch({tokens_[0], forged, tokens_[0]}));
  EXPECT_THAT(acked, testing::IsOkAndHolds(ElementsAre(0, 2)));
  EXPECT_EQ(Number("SELECT sum(succeeded) FROM skiplane.counter_delta"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.packed_attempt"), 1);
}

TEST_F(PackTest, WhatIsAckedIsRememberedInRowsOfSoManyIds) {
  pg::Params params;
  params.Int8(lane_).Int8Array({ids_[0]}).Int8Array({tokens_[0].lease_number});
  params.UuidArray({tokens_[0].session}).Int8Array({0b1111}).Bool(true).Int4(7).UuidArray({});
  params.Int8(1).Int8(1);
  ASSERT_THAT(session_->Run(sql::kTaskAckPacked, params), IsOk());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.settled"), 4);
  for (const model::LeaseToken& token : tokens_) {
    EXPECT_EQ(ClassifyOne(token).settled_as, Action::kAck);
  }
}

TEST_F(PackTest, ASecondSettlementFindsTheFirst) {
  EXPECT_EQ(Settle({tokens_[0]}, Action::kAck), 1);
  EXPECT_EQ(Settle({tokens_[0]}, Action::kRetry), 0);
  EXPECT_EQ(ClassifyOne(tokens_[0]).settled_as, Action::kAck);
}

// As leases are that a ledger or a heartbeat told of.
TEST_F(PackTest, ALeaseWithoutALocationIsFoundOnceItsTaskIsLocked) {
  const model::LeaseToken told = Required(FindLeasesOf(*session_, lane_, {kWorker})).front();
  EXPECT_EQ(Settle({told}, Action::kAck), 0);
  EXPECT_TRUE(ClassifyOne(told).is_held);
  EXPECT_THAT(LockTasks(*session_, lane_, {told.task.id}), IsOk());
  EXPECT_EQ(Settle({told}, Action::kAck), 1);
  EXPECT_EQ(Packed(), 9);
}

TEST_F(PackTest, WithOneThatWaitsAllThatWaitGetRows) {
  EXPECT_EQ(Change(Kind::kCancel, {6}), 1);
  EXPECT_EQ(StateOf(6), model::TaskState::kCancelled);
  EXPECT_EQ(Packed(), 4);
  EXPECT_THAT(testing::IdsOf(Take(9)), ElementsAre(ids_[4], ids_[5], ids_[7], ids_[8], ids_[9]));
}

TEST_F(PackTest, ARunningTaskIsToldToStop) {
  EXPECT_EQ(Change(Kind::kCancel, {0}), 1);
  EXPECT_TRUE(Required(GetTask(*session_, {lane_, ids_[0]})).cancel_requested);
  EXPECT_EQ(Packed(), 9);
  EXPECT_EQ(Settle({tokens_[0]}, Action::kRetry), 1);
  EXPECT_EQ(StateOf(0), model::TaskState::kCancelled);
}

TEST_F(PackTest, AllOfAPackAreChangedAtOnce) {
  EXPECT_EQ(Change(Kind::kDelete, {4, 5, 6, 7, 8, 9}), 6);
  EXPECT_EQ(Packed(), 4);
  EXPECT_EQ(Settle(tokens_, Action::kAck), 4);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_pack"), 0);
}

TEST_F(PackTest, WhatIsNotPackedIsLeftAlone) {
  const int64_t single = PutOne();
  EXPECT_THAT(Unpack(*session_, lane_, {single, single + 1, ids_[0] - 1}), IsOk());
  EXPECT_EQ(Packed(), 10);
}

TEST_F(PackTest, ALostSessionsTasksAreTakenBack) {
  const Reclaimed lost = Required(
      Reclaim(*session_, lane_, {kWorker}, model::QueueSettings(), 100, Action::kLost));
  EXPECT_EQ(lost.freed, 4);
  EXPECT_EQ(Packed(), 6);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE attempt = 1 AND state = 1"), 4);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger"), 0);
}

TEST_F(PackTest, AnEndedSessionsTasksAreGivenBackUncharged) {
  const Reclaimed ended = Required(
      Reclaim(*session_, lane_, {kWorker}, model::QueueSettings(), 100, Action::kRelease));
  EXPECT_EQ(ended.freed, 4);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE attempt = 0 AND state = 1"), 4);
}

TEST_F(PackTest, AttemptsThatRunTooLongEnd) {
  model::QueueSettings settings;
  settings.max_run_duration = absl::Microseconds(1);
  EXPECT_EQ(Required(ReclaimHanged(*session_, lane_, settings, 100)).freed, 4);
  EXPECT_EQ(Packed(), 6);
}

TEST_F(PackTest, TheLedgerKeepsWhatIsHeld) {
  Sql("UPDATE skiplane.lease_ledger SET check_time = now() - interval '1 s'");
  EXPECT_THAT(Required(FoldLedger(*session_, lane_, 100)).sessions, ElementsAre(kWorker));
  EXPECT_EQ(Number("SELECT cardinality(tasks) FROM skiplane.lease_ledger"), 4);
}

// A settlement waits for whoever leases of the pack just now, and misses nothing.
TEST_F(PackTest, UnpackingWaitsForAnotherChangeOfThePack) {
  const auto other = Open();
  Required(session_->RunText("BEGIN"));
  EXPECT_EQ(Settle({tokens_[0]}, Action::kAck), 1);
  std::thread waiter([&] { Required(store::Settle(*other, Batch({tokens_[1]}))); });
  WaitUntilBlocked(*other);
  Required(session_->RunText("COMMIT"));
  waiter.join();
  EXPECT_EQ(Packed(), 8);
  EXPECT_EQ(InRows(), 0);
}

// The change is lost, or a task comes twice, if it goes by what the pack was before the lease.
TEST_F(PackTest, UnpackingFollowsWhatALeaseLeft) {
  const auto other = Open();
  Required(session_->RunText("BEGIN"));
  store::LeaseDemand demand = Demand(std::vector<int32_t>(3, 1));
  demand.has_packs = true;
  EXPECT_EQ(testing::IdsOf(Required(Lease(*session_, demand)).rows),
            (std::vector<int64_t>{ids_[4], ids_[5], ids_[6]}));
  std::thread waiter([&] { EXPECT_THAT(Unpack(*other, lane_, {ids_[5], ids_[8]}), IsOk()); });
  WaitUntilBlocked(*other);
  Required(session_->RunText("COMMIT"));
  waiter.join();
  EXPECT_EQ(Packed(), 4 + 2);
  EXPECT_EQ(InRows(), 1 + 3);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.tasks WHERE state = 'ready'"), 3);
}

// It was leased and acked to its end while this waited for another pack, and what was left of it
// was not changed.
TEST_F(PackTest, UnpackingFindsWhatIsLeftOfAPackThatIsGone) {
  const std::vector<int64_t> more = Put(40);
  Sql("UPDATE skiplane.task SET schedule_time = now() - interval '1 ms'");
  Sql(testing::PackTasks());
  const auto holder = Open();
  Required(holder->RunText("BEGIN"));
  Required(holder->RunText(
      absl::StrCat("SELECT FROM skiplane.task_pack WHERE id = ", ids_[4], " FOR UPDATE")));
  const auto other = Open();
  std::thread waiter([&] { EXPECT_THAT(Unpack(*other, lane_, {ids_[5], more[30]}), IsOk()); });
  WaitUntilBlocked(*other);
  store::LeaseDemand demand = Demand(std::vector<int32_t>(20, 1));
  demand.has_packs = true;
  const Leased leased = Required(Lease(*session_, demand));
  EXPECT_EQ(leased.rows.size(), 20);
  SettleBatch acks = Batch(testing::TokensOf(leased.rows), Action::kAck);
  EXPECT_EQ(Required(AckPacked(*session_, acks, nullptr)).size(), 20);
  Required(holder->RunText("COMMIT"));
  waiter.join();
  EXPECT_EQ(InRows(), 6 + 20);
  EXPECT_EQ(Packed(), 4);
}

TEST_F(PackTest, WhatIsUnpackedAfterTheClockWentBackIsReady) {
  Sql("UPDATE skiplane.task_pack SET schedule_time = now() + interval '1 h', "
      "create_time = now() + interval '1 h'");
  EXPECT_THAT(Unpack(*session_, lane_, {ids_[6]}), IsOk());
  EXPECT_THAT(testing::IdsOf(Take(9)),
              ElementsAre(ids_[4], ids_[5], ids_[6], ids_[7], ids_[8], ids_[9]));
}

}  // namespace
}  // namespace skiplane::store
