#include "server/store/queues.h"

#include "gmock/gmock.h"
#include "server/store/peers.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::Optional;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::ReasonIs;
using testing::Required;
using testing::UuidOf;

const model::SessionId kDeletion = UuidOf(7);

class DeletionTest : public testing::StoreHarness {
 protected:
  void Renew(uint8_t broker, const std::vector<pg::Uuid>& confirmed = {}) {
    Required(RenewBroker(*session_, {UuidOf(broker), "broker", "0.2.0"}, absl::Minutes(1),
                         confirmed));
  }
  // From the start, as after something was locked.
  absl::StatusOr<Purged> Purge() { return PurgeLane(*session_, lane_, 10, 0); }
  // Its counters are looked at when the test ends: of some queue.
  void TearDown() override {
    if (Number("SELECT count(*) FROM skiplane.queue") == 0) MakeLane("other");
    StoreHarness::TearDown();
  }
  absl::Status Begin() {
    return BeginDeletion(*session_, Required(GetQueue(*session_, "work")), kDeletion);
  }
};

TEST_F(DeletionTest, ItBeginsOnceAndCanBeUndone) {
  const model::Queue before = Required(GetQueue(*session_, "work"));
  ASSERT_THAT(Begin(), IsOk());
  const model::Queue during = Required(GetQueue(*session_, "work"));
  EXPECT_THAT(during.deletion, Optional(kDeletion));
  EXPECT_TRUE(during.LeasesPaused());
  EXPECT_GT(during.version, before.version);
  EXPECT_THAT(BeginDeletion(*session_, before, UuidOf(8)), ReasonIs("TRANSACTION_CONFLICT"));
  ASSERT_THAT(UndoDeletion(*session_, UuidOf(8)), IsOk());
  EXPECT_TRUE(Required(GetQueue(*session_, "work")).IsDeleting());
  ASSERT_THAT(UndoDeletion(*session_, kDeletion), IsOk());
  const model::Queue after = Required(GetQueue(*session_, "work"));
  EXPECT_FALSE(after.IsDeleting());
  EXPECT_GT(after.version, during.version);
}

TEST_F(DeletionTest, EveryBrokerThatRunsConfirmsIt) {
  ASSERT_THAT(Begin(), IsOk());
  EXPECT_THAT(BrokerToConfirm(*session_, kDeletion), IsOkAndHolds(std::nullopt));
  Renew(1);
  EXPECT_THAT(BrokerToConfirm(*session_, kDeletion), IsOkAndHolds(Optional(std::string("broker"))));
  Renew(1, {UuidOf(9)});
  EXPECT_THAT(BrokerToConfirm(*session_, kDeletion), IsOkAndHolds(Optional(std::string("broker"))));
  Renew(1, {UuidOf(9), kDeletion});
  EXPECT_THAT(BrokerToConfirm(*session_, kDeletion), IsOkAndHolds(std::nullopt));
}

TEST_F(DeletionTest, ASilentBrokerCountsWhileItHasConnections) {
  ASSERT_THAT(Begin(), IsOk());
  Renew(1);
  Sql("UPDATE skiplane.broker SET expire_time = now() - interval '1 minute'");
  EXPECT_THAT(BrokerToConfirm(*session_, kDeletion), IsOkAndHolds(std::nullopt));
  pg::ConnectOptions options = Options();
  options.application_name = ApplicationName(UuidOf(1));
  const auto connection = Required(pg::Session::Open(options, nullptr));
  EXPECT_THAT(BrokerToConfirm(*session_, kDeletion), IsOkAndHolds(Optional(std::string("broker"))));
}

// Its connections have the name of all others.
TEST_F(DeletionTest, ABrokerOfBeforeCountsForAnHour) {
  ASSERT_THAT(Begin(), IsOk());
  Renew(1);
  Sql("UPDATE skiplane.broker SET version = '', expire_time = now() - interval '59 minutes'");
  EXPECT_THAT(BrokerToConfirm(*session_, kDeletion), IsOkAndHolds(Optional(std::string("broker"))));
  Sql("UPDATE skiplane.broker SET expire_time = now() - interval '61 minutes'");
  EXPECT_THAT(BrokerToConfirm(*session_, kDeletion), IsOkAndHolds(std::nullopt));
}

TEST_F(DeletionTest, ItGoesInSmallSteps) {
  Put(50);
  EXPECT_THAT(HoldTasks(*session_, {lane_}), IsOkAndHolds(true));
  ASSERT_THAT(Begin(), IsOk());
  EXPECT_THAT(FinishDeletion(*session_, kDeletion), IsOkAndHolds(false));
  int64_t tasks = 0;
  for (int step = 0; step < 5; ++step) {
    const Purged purged = Required(Purge());
    EXPECT_EQ(purged.tasks, 10);
    tasks += purged.tasks;
  }
  EXPECT_EQ(tasks, 50);
  EXPECT_THAT(HoldTasks(*session_, {lane_}), IsOkAndHolds(false));
  while (Required(Purge()).rows > 0) {
  }
  EXPECT_THAT(FinishDeletion(*session_, kDeletion), IsOkAndHolds(true));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.counter_delta"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.queue"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.queue_lane"), 0);
}

TEST_F(DeletionTest, NothingOfAQueueThatStaysIsPurged) {
  Put(1);
  EXPECT_FALSE(Purge().ok());
  EXPECT_THAT(FinishDeletion(*session_, kDeletion), IsOkAndHolds(false));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 1);
}

TEST_F(DeletionTest, TheNextStepLooksOnBehindTheLast) {
  const std::vector<int64_t> ids = Put(3);
  ASSERT_THAT(Begin(), IsOk());
  EXPECT_EQ(Required(PurgeLane(*session_, lane_, 2, 0)).last_id, ids[1]);
  EXPECT_EQ(Required(PurgeLane(*session_, lane_, 2, ids[2])).tasks, 0);
  EXPECT_EQ(Required(PurgeLane(*session_, lane_, 2, ids[1])).last_id, ids[2]);
  while (Required(Purge()).rows > 0) {
  }
  EXPECT_THAT(FinishDeletion(*session_, kDeletion), IsOkAndHolds(true));
}

// Who enqueues by SQL holds the queue's row to the end of its transaction.
TEST_F(DeletionTest, ItIsSealedWhenNoTransactionHoldsIt) {
  const auto other = Open();
  Required(other->RunText("BEGIN"));
  Required(other->RunText("SELECT id FROM skiplane.queue FOR KEY SHARE"));
  ASSERT_THAT(Begin(), IsOk());
  EXPECT_THAT(SealQueue(*session_, kDeletion), IsOkAndHolds(false));
  Required(other->RunText("COMMIT"));
  EXPECT_THAT(SealQueue(*session_, kDeletion), IsOkAndHolds(true));
}

// What another transaction has at hand is passed over, not waited for.
TEST_F(DeletionTest, ALockedTaskIsLeftForALaterStep) {
  Put(2);
  ASSERT_THAT(Begin(), IsOk());
  const auto other = Open();
  Required(other->RunText("BEGIN"));
  Required(other->RunText("SELECT id FROM skiplane.task ORDER BY id LIMIT 1 FOR UPDATE"));
  EXPECT_EQ(Required(Purge()).tasks, 1);
  EXPECT_THAT(FinishDeletion(*session_, kDeletion), IsOkAndHolds(false));
  Required(other->RunText("COMMIT"));
  EXPECT_EQ(Required(Purge()).tasks, 1);
  while (Required(Purge()).rows > 0) {
  }
  EXPECT_THAT(FinishDeletion(*session_, kDeletion), IsOkAndHolds(true));
}

}  // namespace
}  // namespace skiplane::store
