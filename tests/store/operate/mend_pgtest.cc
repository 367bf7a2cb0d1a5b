// What operators give tasks, and say of failures; and where periodic tasks stand.
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/model/limits.h"
#include "server/store/reports.h"
#include "server/store/schedules.h"
#include "server/store/task_change.h"
#include "server/store/task_view.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::Required;

class MendTest : public testing::StoreHarness {
 protected:
  std::vector<int64_t> Planned(const model::PlannedPlace& after, int limit,
                               const std::vector<int64_t>& lanes = {}) {
    std::vector<int64_t> ids;
    const PlannedTasks found = Required(ListPlanned(*session_, after, lanes, limit));
    for (const model::PlannedPlace& place : found.tasks) ids.push_back(place.id.id);
    return ids;
  }
};

// The schedule of one that was postponed again and again was once out of the range of its column:
// a bulk operation that came to it failed for ever.
TEST_F(MendTest, ATaskIsPostponedTenYearsAheadAtMost) {
  const std::vector<int64_t> ids = Put(1);
  model::TaskChange later;
  later.kind = model::TaskChange::Kind::kPostpone;
  later.postpone = model::kStartAheadMax;
  for (int i = 0; i < 70; ++i) {
    ASSERT_THAT(ChangeTasks(*session_, TaskTable::kLiving, lane_, ids, later, {}), IsOk());
  }
  EXPECT_EQ(Sql("SELECT schedule_time <= now() + interval '3653 days' FROM skiplane.task"), "t");
}

TEST_F(MendTest, AWaitingTaskGetsOtherContent) {
  model::NewTask task;
  task.payload = "old";
  task.headers = {{"h", "1"}};
  const int64_t id = Put(1, task).front();
  ASSERT_THAT(ReplaceContent(*session_, {lane_, id}, {"new", "text/plain", {}}), IsOk());
  const model::TaskView now = Required(GetTask(*session_, {lane_, id}, true));
  EXPECT_EQ(now.payload, "new");
  EXPECT_EQ(now.content_type, "text/plain");
  EXPECT_THAT(now.headers, IsEmpty());
}

TEST_F(MendTest, PeriodicTasksStandByPlannedTime) {
  const std::vector<int64_t> ids = Put(4);
  Sql(absl::StrCat("UPDATE skiplane.task SET period = 60000000, planned_time = '2030-01-01'::"
                   "timestamptz + (10 - id) * interval '1 second' WHERE id <> ", ids[1]));
  EXPECT_THAT(Planned({}, 10), ElementsAre(ids[3], ids[2], ids[0]));
  EXPECT_THAT(Planned({}, 10, {lane_}), ElementsAre(ids[3], ids[2], ids[0]));
  EXPECT_THAT(Planned({}, 10, {lane_ + 1}), IsEmpty());
  const PlannedTasks first = Required(ListPlanned(*session_, {}, {}, 2));
  ASSERT_TRUE(first.next.has_value());
  EXPECT_THAT(Planned(*first.next, 2), ElementsAre(ids[0]));
}

TEST_F(MendTest, OfANoteOnlyWhatIsSaidChanges) {
  EXPECT_EQ(Required(GetErrorNote(*session_, lane_, "f")).text, "");
  ASSERT_THAT(AnnotateError(*session_, {lane_, "f", "known", std::nullopt, "ann"}), IsOk());
  ASSERT_THAT(AnnotateError(*session_, {lane_, "f", std::nullopt, true, "bob"}), IsOk());
  const model::ErrorNote note = Required(GetErrorNote(*session_, lane_, "f"));
  EXPECT_EQ(note.text, "known");
  EXPECT_TRUE(note.is_muted);
  EXPECT_EQ(note.actor, "bob");
  EXPECT_EQ(Required(GetErrorNote(*session_, lane_, "g")).text, "");
}

}  // namespace
}  // namespace skiplane::store
