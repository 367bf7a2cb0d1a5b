#include "server/upkeep/partitions.h"

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using testing::Required;

class PartitionsTest : public testing::UpkeepHarness {
 protected:
  // Whether history has a partition for the day that many days from now.
  bool HasDay(int days) const {
    return Sql(absl::StrCat("SELECT to_regclass('skiplane.history_' || to_char("
                            "(now() AT TIME ZONE 'UTC')::date + ",
                            days, ", 'YYYYMMDD')) IS NOT NULL")) == "t";
  }
  void DropDay(const std::string& parent, int days) const {
    Sql(absl::StrCat("DO $$ BEGIN EXECUTE format('DROP TABLE skiplane.", parent,
                     "_%s', to_char((now() AT TIME ZONE 'UTC')::date + ", days,
                     ", 'YYYYMMDD')); END $$"));
  }

  Partitions partitions_;
};

TEST_F(PartitionsTest, MakesTheDaysOfAWeekAhead) {
  Required(partitions_.RunOnce(*session_));  // midnight may have come since the migration
  DropDay("history", 5);
  DropDay("history", 7);
  DropDay("task_failed", 7);
  EXPECT_EQ(Required(partitions_.RunOnce(*session_)).made, 3);
  EXPECT_TRUE(HasDay(5));
  EXPECT_TRUE(HasDay(7));
  EXPECT_EQ(Required(partitions_.RunOnce(*session_)).made, 0);
}

TEST_F(PartitionsTest, ADayThatBeganWithoutItsPartitionDoesNotKeepTheNextFromTheirs) {
  DropDay("history", 1);
  DropDay("history", 2);
  Sql("INSERT INTO skiplane.history (lane, task_id, finished_at, leased_at, run_at, created_at, "
      "attempt, max_attempts, stage, priority, outcome, is_last) "
      "SELECT 1, 1, ((now() AT TIME ZONE 'UTC')::date + 1.5 * interval '1 day') "
      "AT TIME ZONE 'UTC', now(), now(), now(), 1, 1, 0, 0, 1, true");
  EXPECT_GE(Required(partitions_.RunOnce(*session_)).made, 1);
  EXPECT_FALSE(HasDay(1));
  EXPECT_TRUE(HasDay(2));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history"), 1);
}

}  // namespace
}  // namespace skiplane::upkeep
