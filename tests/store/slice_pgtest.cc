#include "server/store/slice.h"

#include <limits>

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Required;
using testing::TaskIn;
using testing::TaskWithPriority;

class SliceTest : public testing::StoreHarness {
 protected:
  std::vector<PriorityView> Views() { return Required(Priorities(*session_, lane_, 0)); }
  Slice SliceOf(const Bound& from, int rows) {
    return Required(ReadSlice(*session_, lane_, 0, from, rows));
  }
};

TEST_F(SliceTest, AnEmptyLaneHasNoPriorities) {
  EXPECT_THAT(Views(), IsEmpty());
  lane_ = MakeLane("other");
  PutOne();
  lane_ -= 1;
  EXPECT_THAT(Views(), IsEmpty());
}

TEST_F(SliceTest, PrioritiesAreFoundMostUrgentFirst) {
  const int16_t priorities[] = {5, std::numeric_limits<int16_t>::max(), 0,
                                std::numeric_limits<int16_t>::min(), 5};
  for (const int16_t priority : priorities) PutOne(TaskWithPriority(priority));
  std::vector<int> seen;
  for (const PriorityView& view : Views()) {
    seen.push_back(view.priority);
    EXPECT_FALSE(view.next_due_in.has_value());
  }
  EXPECT_THAT(seen, ElementsAre(-32768, 0, 5, 32767));
}

TEST_F(SliceTest, TheNextDueTimeIsTheLeastInTheFuture) {
  PutOne();
  PutOne(TaskIn(absl::Hours(2)));
  PutOne(TaskIn(absl::Hours(1)));
  const std::vector<PriorityView> views = Views();
  ASSERT_EQ(views.size(), 1u);
  ASSERT_TRUE(views[0].next_due_in.has_value());
  EXPECT_LE(*views[0].next_due_in, absl::Hours(1));
  EXPECT_GT(*views[0].next_due_in, absl::Minutes(55));
}

TEST_F(SliceTest, ASliceTellsWhatIsReady) {
  const std::vector<int64_t> ids = Put(6);
  PutOne(TaskIn(absl::Hours(1)));
  PutOne(TaskWithPriority(1));
  Take(2);
  Sql("UPDATE skiplane.task SET schedule_time = schedule_time - interval '1 hour' WHERE state = 1 "
      "AND schedule_time < now()");
  Sql("UPDATE skiplane.task SET schedule_time = schedule_time - interval '2 hours' "
      "WHERE state = 2");
  const Slice all = SliceOf({0}, 100);
  EXPECT_EQ(all.seen, 6);
  EXPECT_EQ(all.ready, 4);
  ASSERT_TRUE(all.first_ready.has_value());
  EXPECT_EQ(all.first_ready->id, ids[2]);
  EXPECT_EQ(all.first_ready->priority, 0);
  ASSERT_TRUE(all.last_seen.has_value());
  EXPECT_EQ(all.last_seen->id, ids[5]);
  EXPECT_GE(all.oldest_age, absl::Hours(1));
  EXPECT_LT(all.oldest_age, absl::Minutes(90));
}

TEST_F(SliceTest, SlicesFollowEachOther) {
  const std::vector<int64_t> ids = Put(5);
  Bound from{0};
  std::vector<int64_t> ends;
  while (true) {
    const Slice slice = SliceOf(from, 2);
    if (slice.last_seen.has_value()) ends.push_back(slice.last_seen->id);
    if (slice.seen < 2) break;
    from = *slice.last_seen;
  }
  EXPECT_THAT(ends, ElementsAre(ids[1], ids[3], ids[4]));
}

TEST_F(SliceTest, ASliceWithoutReadyTasksSaysSo) {
  Put(3);
  Take(3);
  const Slice slice = SliceOf({0}, 100);
  EXPECT_EQ(slice.seen, 3);
  EXPECT_EQ(slice.ready, 0);
  EXPECT_FALSE(slice.first_ready.has_value());
  EXPECT_TRUE(slice.last_seen.has_value());
  EXPECT_EQ(SliceOf({9}, 100).seen, 0);
  EXPECT_FALSE(SliceOf({9}, 100).last_seen.has_value());
}

TEST_F(SliceTest, ALeaseFromTheLastSeenKeyContinuesThere) {
  const std::vector<int64_t> ids = Put(4);
  LeaseDemand demand = Demand({1, 1});
  demand.bounds = {*SliceOf({0}, 2).last_seen};
  EXPECT_THAT(testing::IdsOf(Required(Lease(*session_, demand)).rows), ElementsAre(ids[2], ids[3]));
}

}  // namespace
}  // namespace skiplane::store
