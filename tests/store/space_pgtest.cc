#include "server/store/space.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using testing::IsOkAndHolds;
using testing::Required;

constexpr SpaceBounds kSmall = {.table_pages_min = 100, .index_pages_min = 10,
                                .rebuilt_pages_max = 20};

// PostgreSQL knows of it when the statement ends, not a second later.
constexpr char kNoted[] = "; SELECT pg_stat_force_next_flush()";

class SpaceTest : public testing::StoreHarness {
 protected:
  SpaceTest() : StoreHarness(User::kSuperuser) {}  // a broker may not vacuum

  // Of several to a page.
  void Fill(int tasks) const {
    Sql(absl::StrCat("INSERT INTO skiplane.task (lane, id, schedule_time, create_time, "
                     "max_attempts, "
                     "payload) SELECT 1, i, now(), now(), 10, decode(repeat('55', 200), 'hex') "
                     "FROM generate_series(1, ", tasks, ") i", kNoted));
  }
  // As the statements do that enqueue.
  void Count(int tasks) const {
    Sql(absl::StrCat("INSERT INTO skiplane.counter_delta (lane, stage, due, waiting) "
                     "VALUES (1, 0, 0, ", tasks, ")"));
  }
  void Drain() const { Sql(absl::StrCat("DELETE FROM skiplane.task", kNoted)); }

  TableSize SizeOf(const std::string& table) {
    const Sizes sizes = Required(ReadSizes(*session_));
    const auto found = std::ranges::find(sizes.tables, table, &TableSize::table);
    testing::Require(found != sizes.tables.end(), "no such table");
    return *found;
  }
  std::vector<std::string> Commands(const SpaceBounds& bounds = kSmall) {
    std::vector<std::string> commands;
    for (const SpaceStep& step : Required(FindSpace(*session_, bounds))) {
      EXPECT_TRUE(step.is_allowed) << step.command;
      commands.push_back(step.command);
    }
    return commands;
  }
};

TEST_F(SpaceTest, SizesAreThoseOfRowsLargeValuesAndIndexes) {
  Fill(2000);
  Sql("INSERT INTO skiplane.task (lane, id, schedule_time, create_time, max_attempts, payload) "
      "SELECT 1, 5000, now(), now(), 10, string_agg(sha256(int4send(i)), '') "
      "FROM generate_series(1, 20000) i");
  const TableSize size = SizeOf("task");
  EXPECT_GT(size.row_bytes, 2000 * 200);
  EXPECT_GT(size.index_bytes, 2000 * 16);
  EXPECT_GT(size.toast_bytes, 20000 * 32);
  EXPECT_LT(size.toast_bytes, 20000 * 32 * 2);
  EXPECT_EQ(size.dead_rows, 0);
  EXPECT_GT(Required(ReadSizes(*session_)).database_bytes,
            size.row_bytes + size.index_bytes + size.toast_bytes);
  Drain();
  EXPECT_EQ(SizeOf("task").dead_rows, 2001);
}

TEST_F(SpaceTest, PartitionsCountWithTheirTable) {
  const TableSize before = SizeOf("history");
  Sql("INSERT INTO skiplane.history (lane, task_id, expire_time, end_time, schedule_time, "
      "create_time, "
      "attempt, max_attempts, stage, priority, outcome, ends_task) SELECT 1, i, "
      "now() + i % 5 * interval '1 day', now(), now(), now(), 1, 1, 0, 0, 1, true "
      "FROM generate_series(1, 1000) i");
  EXPECT_GT(SizeOf("history").row_bytes, before.row_bytes + 5 * 8192);
  for (const TableSize& each : Required(ReadSizes(*session_)).tables) {
    EXPECT_THAT(each.table, ::testing::Not(::testing::StartsWith("history_")));
  }
}

TEST_F(SpaceTest, ATableInUseHasNothingToGive) {
  Fill(5000);
  Count(5000);
  EXPECT_THAT(Commands(), IsEmpty());
  Drain();
  Count(-5000);
}

TEST_F(SpaceTest, TheNumberOfTasksIsKnownAlsoWhereStatisticsWereLost) {
  Fill(5000);
  Count(5000);
  Sql("SELECT pg_stat_reset_single_table_counters('skiplane.task'::regclass)");
  EXPECT_THAT(Commands(), IsEmpty());
  Drain();
  Count(-5000);
}

TEST_F(SpaceTest, PackedTasksAreNoRowsOfTheTableOfTasks) {
  Fill(5000);
  Drain();
  Sql("INSERT INTO skiplane.task_pack (lane, id, schedule_time, create_time, max_attempts, bytes, "
      "task_count, payloads) VALUES (1, 6000, now(), now(), 10, 1, 2, '{a,b}')");
  Count(5000);
  EXPECT_THAT(Commands(), Contains("VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON, TRUNCATE, PARALLEL 0) "
                                   "skiplane.task"));
  Sql("DELETE FROM skiplane.task_pack");
  Count(-5000);
}

TEST_F(SpaceTest, ATableOfOthersIsVacuumedWhenItsEstimateIsOldAndRowsWereDeleted) {
  Sql("INSERT INTO skiplane.task_key (lane, key, task_id) SELECT 1, repeat('k', 200) || i, i "
      "FROM generate_series(1, 5000) i");
  Sql("VACUUM skiplane.task_key");
  SpaceBounds bounds = kSmall;
  bounds.estimate_age = -absl::Seconds(1);
  EXPECT_THAT(Commands(bounds), IsEmpty());
  Sql(absl::StrCat("DELETE FROM skiplane.task_key WHERE task_id = 1", kNoted));
  Sql(absl::StrCat("SET track_counts = off; DELETE FROM skiplane.task_key", kNoted));
  EXPECT_THAT(Commands(), IsEmpty());
  const std::vector<SpaceStep> steps = Required(FindSpace(*session_, bounds));
  ASSERT_THAT(steps, ElementsAre(Field(&SpaceStep::relation, "task_key")));
  while (Number("SELECT pg_relation_size('skiplane.task_key')") > 0) {
    ASSERT_THAT(GiveBack(*session_, steps.front()), testing::IsOk());
  }
}

TEST_F(SpaceTest, TheTableOfADrainedQueueGivesItsPagesAndThenItsIndexesTheirs) {
  Fill(5000);
  Drain();
  const std::vector<SpaceStep> steps = Required(FindSpace(*session_, kSmall));
  ASSERT_THAT(steps, ElementsAre(Field(&SpaceStep::relation, "task")));
  const int64_t full = Required(ReadTaken(*session_, "task"));
  // More than once, if somebody has a snapshot in which the rows live.
  while (Number("SELECT pg_relation_size('skiplane.task')") > 0) {
    ASSERT_THAT(GiveBack(*session_, steps.front()), testing::IsOk());
  }
  EXPECT_LT(Required(ReadTaken(*session_, "task")), full / 2);
  EXPECT_THAT(Commands(), Contains("REINDEX INDEX skiplane.task_pkey"));
  EXPECT_THAT(Commands(), Contains("REINDEX INDEX skiplane.task_lease_order"));
  for (const SpaceStep& step : Required(FindSpace(*session_, kSmall))) {
    EXPECT_THAT(GiveBack(*session_, step), testing::IsOk());
  }
  EXPECT_THAT(ReadTaken(*session_, "task_lease_order"), IsOkAndHolds(8192));
  EXPECT_THAT(Commands(), IsEmpty());
}

TEST_F(SpaceTest, AnUnknownRelationTakesNothing) {
  EXPECT_THAT(ReadTaken(*session_, "nothing"), IsOkAndHolds(0));
}

TEST_F(SpaceTest, OnlyASessionThatGivesSpaceBackIsCancelled) {
  const auto other = Open();
  EXPECT_THAT(CancelGiveBack(*session_, other->backend_pid()), IsOkAndHolds(false));
}

}  // namespace
}  // namespace skiplane::store
