// Bulk operations as rows.
#include "server/store/bulk.h"

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::IsOk;
using testing::ReasonIs;
using testing::Required;

class BulkTest : public testing::StoreHarness {
 protected:
  NewBulk New() const {
    NewBulk bulk;
    bulk.id = model::NewSessionId();
    bulk.queue_id = 1;
    bulk.filter.queue = "q";
    bulk.filter.states.ready = true;
    bulk.lanes = {lane_};
    bulk.actor = "ann";
    return bulk;
  }
};

TEST_F(BulkTest, ABulkOperationIsOneBrokersAtATime) {
  NewBulk bulk = New();
  bulk.id = testing::UuidOf(7);
  bulk.filter.states = {true, true, true, false, true, false};
  bulk.filter.headers = {{"a", "b"}};
  bulk.filter.fingerprint = "print";
  bulk.filter.min_age = absl::Seconds(3);
  bulk.filter.priority = -3;
  bulk.filter.periodic = false;
  bulk.filter.stage = "as it was called then";
  bulk.stage = 1;
  EXPECT_THAT(CreateBulk(*session_, bulk), IsOk());
  const auto other = Open();
  ASSERT_THAT(other->RunText("BEGIN"), IsOk());
  std::optional<BulkCursor> cursor = Required(ClaimBulk(*other, bulk.id));
  ASSERT_TRUE(cursor.has_value());
  EXPECT_EQ(cursor->filter, bulk.filter);
  EXPECT_EQ(cursor->stage, 1);
  EXPECT_FALSE(Required(ClaimBulk(*session_, bulk.id)).has_value());
  cursor->lanes.clear();
  EXPECT_THAT(AdvanceBulk(*other, bulk.id, *cursor, {5, 4, 3}), IsOk());
  ASSERT_THAT(other->RunText("COMMIT"), IsOk());
  const model::BulkOperation done = Required(GetBulk(*session_, bulk.id));
  EXPECT_EQ(done.state, model::BulkOperationState::kDone);
  EXPECT_EQ(done.changed, 3);
  EXPECT_FALSE(Required(ClaimBulk(*session_, bulk.id)).has_value());
  EXPECT_THAT(StopBulk(*session_, bulk.id), IsOk());
  EXPECT_THAT(Required(ListBulks(*session_, absl::InfiniteFuture(), {}, 5, INT64_MAX)).items,
              SizeIs(1));
  EXPECT_THAT(Required(IdleBulks(*session_)), IsEmpty());
  EXPECT_THAT(Required(GetBulks(*session_, {bulk.id, testing::UuidOf(8)})), SizeIs(1));
  EXPECT_THAT(Required(GetBulks(*session_, {})), IsEmpty());
}

// Who may operate one queue once began thousands, and those of other queues waited for their steps.
TEST_F(BulkTest, AQueueHasAtMostAHundredThatRun) {
  std::vector<model::SessionId> running;
  for (int i = 0; i < kRunningBulksMax; ++i) {
    const NewBulk bulk = New();
    ASSERT_THAT(CreateBulk(*session_, bulk), IsOk()) << i;
    running.push_back(bulk.id);
  }
  EXPECT_THAT(CreateBulk(*session_, New()), ReasonIs("TOO_MANY_BULK_OPERATIONS"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.bulk_operation"), kRunningBulksMax);

  NewBulk of_other = New();
  of_other.queue_id = 2;
  EXPECT_THAT(CreateBulk(*session_, of_other), IsOk());
  NewBulk deletion = New();
  deletion.change.kind = model::TaskChange::Kind::kDeleteQueue;
  EXPECT_THAT(CreateBulk(*session_, deletion), IsOk());

  EXPECT_TRUE(Required(StopBulk(*session_, running[0])));
  EXPECT_THAT(CreateBulk(*session_, New()), ReasonIs("TOO_MANY_BULK_OPERATIONS"))
      << "the deletion counts";
  EXPECT_TRUE(Required(StopBulk(*session_, running[1])));
  EXPECT_THAT(CreateBulk(*session_, New()), IsOk());
}

}  // namespace
}  // namespace skiplane::store
