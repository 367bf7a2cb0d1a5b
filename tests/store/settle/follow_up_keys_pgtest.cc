// What follows an ack is enqueued in the ack's transaction, in which its keys were locked first.
#include <thread>

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::IsOk;
using testing::KeyedTask;
using testing::Required;

class FollowUpKeysTest : public testing::StoreHarness {
 protected:
  FollowUpKeys NewKey() const { return {.lanes = {lane_}, .keys = {"new"}}; }
  int64_t Keys() { return Number("SELECT count(*) FROM skiplane.task_key"); }
};

TEST_F(FollowUpKeysTest, AKeyThatNobodyHasIsLockedAndLeavesNothing) {
  const int64_t task = PutOne();
  Required(session_->RunText("BEGIN"));
  EXPECT_THAT(LockTasks(*session_, lane_, {task}, NewKey()), IsOk());
  Required(session_->RunText("COMMIT"));
  EXPECT_EQ(Keys(), 0);
}

TEST_F(FollowUpKeysTest, WhoMakesSuchAKeyMeanwhileWaitsAndFindsItsTask) {
  const int64_t task = PutOne();
  const std::vector<model::NewTask> tasks = {KeyedTask("new")};
  const std::vector<TaskRow> following = Rows(tasks);
  const std::vector<TaskRow> meanwhile = Rows(tasks);
  const auto other = Open();
  Required(session_->RunText("BEGIN"));
  EXPECT_THAT(LockTasks(*session_, lane_, {task}, NewKey()), IsOk());
  Enqueued late;
  std::thread enqueuer([&] { late = Required(EnqueueOnce(*other, meanwhile, {})); });
  WaitUntilBlocked(*other);
  EXPECT_THAT(Required(EnqueueOnce(*session_, following, {})).made, SizeIs(1));
  Required(session_->RunText("COMMIT"));
  enqueuer.join();
  EXPECT_THAT(late.made, IsEmpty());
  EXPECT_EQ(Number("SELECT task_id FROM skiplane.task_key"), following[0].id.id);
  EXPECT_EQ(Keys(), 1);
}

}  // namespace
}  // namespace skiplane::store
