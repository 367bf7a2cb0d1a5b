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

  // A row that expires that many days after the beginning of today.
  void InsertHistory(double days) const {
    Sql(absl::StrCat("INSERT INTO skiplane.history (lane, task_id, expire_time, end_time, "
                     "schedule_time, create_time, attempt, max_attempts, stage, priority, outcome, "
                     "ends_task) SELECT 1, 1, ((now() AT TIME ZONE 'UTC')::date + ",
                     days, " * interval '1 day') AT TIME ZONE 'UTC', now(), now(), now(), 1, 1, "
                     "0, 0, 1, true"));
  }

  Partitions partitions_;
};

TEST_F(PartitionsTest, MakesTheDaysOfAWeekAhead) {
  Required(partitions_.RunOnce(*session_));  // midnight may have come since the migration
  DropDay("history", 7 + 5);
  DropDay("history", 7 + 7);
  DropDay("task_failed", 30 + 7);
  EXPECT_EQ(Required(partitions_.RunOnce(*session_)).made, 3);
  EXPECT_TRUE(HasDay(7 + 5));
  EXPECT_TRUE(HasDay(7 + 7));
  EXPECT_EQ(Required(partitions_.RunOnce(*session_)).made, 0);
}

TEST_F(PartitionsTest, ADayThatBeganWithoutItsPartitionDoesNotKeepTheNextFromTheirs) {
  DropDay("history", 8);
  DropDay("history", 9);
  InsertHistory(8.5);
  EXPECT_GE(Required(partitions_.RunOnce(*session_)).made, 1);
  EXPECT_FALSE(HasDay(8));
  EXPECT_TRUE(HasDay(9));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history"), 1);
}

TEST_F(PartitionsTest, MakesTheDaysOfQueuesThatKeepMoreOrLess) {
  Sql("UPDATE skiplane.queue SET settings = '{\"history_days\": 90, \"failed_days\": 2}'");
  Required(partitions_.RunOnce(*session_));
  EXPECT_TRUE(HasDay(90));
  EXPECT_TRUE(HasDay(97));
  EXPECT_FALSE(HasDay(50));
}

TEST_F(PartitionsTest, DropsADayThatIsOverAndNothingElse) {
  Sql("SELECT skiplane.make_partitions(0)");
  Sql("DO $$ BEGIN EXECUTE format('CREATE TABLE skiplane.history_%s PARTITION OF skiplane.history "
      "FOR VALUES FROM (%L) TO (%L)', to_char((now() AT TIME ZONE 'UTC')::date - 1, 'YYYYMMDD'), "
      "((now() AT TIME ZONE 'UTC')::date - 1)::timestamp AT TIME ZONE 'UTC', "
      "((now() AT TIME ZONE 'UTC')::date)::timestamp AT TIME ZONE 'UTC'); END $$");
  InsertHistory(-0.5);
  InsertHistory(8.5);
  EXPECT_EQ(Required(partitions_.RunOnce(*session_)).dropped, 1);
  EXPECT_EQ(Required(partitions_.RunOnce(*session_)).dropped, 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history"), 1);
  EXPECT_FALSE(HasDay(-1));
}

TEST_F(PartitionsTest, ADayInUseIsLeftForLater) {
  Sql("DO $$ BEGIN EXECUTE format('CREATE TABLE skiplane.history_%s PARTITION OF skiplane.history "
      "FOR VALUES FROM (%L) TO (%L)', to_char((now() AT TIME ZONE 'UTC')::date - 1, 'YYYYMMDD'), "
      "((now() AT TIME ZONE 'UTC')::date - 1)::timestamp AT TIME ZONE 'UTC', "
      "((now() AT TIME ZONE 'UTC')::date)::timestamp AT TIME ZONE 'UTC'); END $$");
  const auto reader = Open();
  ASSERT_TRUE(reader->RunText("SET idle_in_transaction_session_timeout = 0").ok());
  ASSERT_TRUE(reader->RunText("BEGIN; SELECT count(*) FROM skiplane.history").ok());
  const auto busy = Required(partitions_.RunOnce(*session_));
  EXPECT_EQ(busy.dropped, 0);
  EXPECT_FALSE(busy.is_complete);
  ASSERT_TRUE(reader->RunText("ROLLBACK").ok());
  EXPECT_EQ(Required(partitions_.RunOnce(*session_)).dropped, 1);
}

TEST_F(PartitionsTest, DeadLettersThatGoLeaveTheirErrorGroups) {
  Sql("INSERT INTO skiplane.task_failed (lane, id, expire_time, end_time, schedule_time, "
      "create_time, "
      "lease_number, attempt, max_attempts, stage, priority, error_fingerprint, payload) "
      "SELECT 1, i, now() - interval '1 hour', now(), now(), now(), i, 1, 1, 0, 0, 'print', '' "
      "FROM generate_series(1, 3) i");
  Required(partitions_.RunOnce(*session_));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_failed"), 0);
  EXPECT_EQ(Number("SELECT sum(failed)::int FROM skiplane.error_delta"), -3);
  Sql("TRUNCATE skiplane.error_delta");
}

}  // namespace
}  // namespace skiplane::upkeep
