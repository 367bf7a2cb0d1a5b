#include "server/pg/migrate/migrator.h"

#include <thread>

#include "gmock/gmock.h"
#include "server/pg/migrate/migration.h"
#include "server/pg/migrate/migrations.h"
#include "tests/pg/session_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::pg {
namespace {

using testing::IsOk;
using testing::IsOkAndHolds;
using testing::ReasonIs;
using testing::StatusIs;

constexpr Migration kFirst{1, "first", "CREATE TABLE skiplane.one (v int); SELECT 1"};
constexpr Migration kSecond{2, "second", "ALTER TABLE skiplane.one ADD COLUMN w int"};
constexpr Migration kBroken{3, "broken", "CREATE TABLE skiplane.three (v int); SELECT 1 / 0"};

class MigratorTest : public testing::SessionHarness {
 protected:
  absl::StatusOr<int> Apply(const std::vector<Migration>& migrations) const {
    return ApplyMigrations(Options(), migrations);
  }

  std::string Versions() const {
    return database_.Run(
        "SELECT string_agg(version || ':' || name, ' ' ORDER BY version) "
        "FROM skiplane.schema_version");
  }
};

TEST_F(MigratorTest, AnEmptyDatabaseHasVersionZero) {
  const auto session = Open();
  EXPECT_THAT(SchemaVersion(*session), IsOkAndHolds(0));
  EXPECT_EQ(database_.Run("SELECT to_regnamespace('skiplane')"), "");
}

TEST_F(MigratorTest, WhatIsMissingIsAppliedInOrderAndRecorded) {
  EXPECT_THAT(Apply({kFirst}), IsOkAndHolds(1));
  EXPECT_THAT(Apply({kFirst, kSecond}), IsOkAndHolds(1));
  EXPECT_THAT(Apply({kFirst, kSecond}), IsOkAndHolds(0));
  EXPECT_EQ(Versions(), "1:first 2:second");
  EXPECT_THAT(SchemaVersion(*Open()), IsOkAndHolds(2));
  EXPECT_EQ(database_.Run("SELECT count(w) FROM skiplane.one"), "0");
}

TEST_F(MigratorTest, SeveralMayMigrateAtOnce) {
  std::vector<absl::StatusOr<int>> applied(4, absl::UnknownError("did not run"));
  std::vector<std::thread> threads;
  for (absl::StatusOr<int>& mine : applied) {
    threads.emplace_back([this, &mine] { mine = Apply({kFirst, kSecond}); });
  }
  for (std::thread& thread : threads) thread.join();
  int total = 0;
  for (const absl::StatusOr<int>& each : applied) {
    EXPECT_THAT(each, IsOk());
    total += each.value_or(0);
  }
  EXPECT_EQ(total, 2);
  EXPECT_EQ(Versions(), "1:first 2:second");
}

// They queued behind its lock, and were refused for as long as a backup or a report read.
TEST_F(MigratorTest, CallersAreServedWhileItWaitsForALongReader) {
  ASSERT_THAT(Apply({kFirst}), IsOk());
  const auto reader = Open();
  ASSERT_THAT(reader->RunText("BEGIN"), IsOk());
  ASSERT_THAT(reader->RunText("SELECT count(*) FROM skiplane.one"), IsOk());
  absl::StatusOr<int> applied = absl::UnknownError("did not run");
  std::thread migration([&] { applied = Apply({kFirst, kSecond}); });
  const auto caller = Open();
  for (bool waits = false; !waits;) {
    waits = caller
                ->RunText("SELECT count(*) > 0, pg_sleep(0.01) FROM pg_locks "
                          "WHERE relation = 'skiplane.one'::regclass AND NOT granted")
                ->Bool(0, 0);
  }
  EXPECT_THAT(caller->RunText("INSERT INTO skiplane.one VALUES (1)"), IsOk());
  EXPECT_THAT(reader->RunText("COMMIT"), IsOk());
  migration.join();
  EXPECT_THAT(applied, IsOkAndHolds(1));
}

// A list reads two tables in one order, a migration changes them in the other: PostgreSQL may end
// the migration, as this one does itself.
TEST_F(MigratorTest, ADeadlockWithACallIsTriedAgain) {
  constexpr Migration kMeets{2, "meets", R"(
    DO $$ BEGIN
      IF nextval('one_time') = 1 THEN
        RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01';
      END IF;
    END $$)"};
  ASSERT_THAT(Apply({kFirst}), IsOk());
  database_.Run("CREATE SEQUENCE one_time");
  EXPECT_THAT(Apply({kFirst, kMeets}), IsOkAndHolds(1));
  EXPECT_EQ(Versions(), "1:first 2:meets");
  EXPECT_EQ(database_.Run("SELECT last_value FROM one_time"), "2");
}

TEST_F(MigratorTest, ANewerSchemaIsRefusedAndLeftAlone) {
  ASSERT_THAT(Apply({kFirst, kSecond}), IsOk());
  EXPECT_THAT(Apply({kFirst}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Versions(), "1:first 2:second");
}

TEST_F(MigratorTest, AFailedMigrationLeavesTheVersionBeforeIt) {
  EXPECT_THAT(Apply({kFirst, kSecond, kBroken}), ReasonIs("INTERNAL_ERROR"));
  EXPECT_EQ(Versions(), "1:first 2:second");
  EXPECT_EQ(database_.Run("SELECT to_regclass('skiplane.three')"), "");
  EXPECT_THAT(Apply({kFirst, kSecond, {3, "mended", "SELECT 1"}}), IsOkAndHolds(1));
}

TEST_F(MigratorTest, AnUpToDateDatabaseNeedsNoRightToChangeIt) {
  ASSERT_THAT(Apply({kFirst}), IsOk());
  database_.Run("GRANT USAGE ON SCHEMA skiplane TO pg_monitor; "
                "GRANT SELECT ON skiplane.schema_version TO pg_monitor");
  database_.Run(absl::StrCat("ALTER DATABASE ", database_.name(), " SET role = pg_monitor"));
  EXPECT_THAT(Apply({kFirst}), IsOkAndHolds(0));
}

// After a restore the schema is the owner's, and the database may be somebody else's.
TEST_F(MigratorTest, ASchemaThatIsThereNeedsNoRightToMakeOne) {
  const std::string role = absl::StrCat("owner_", database_.name());
  database_.Run(absl::StrCat("CREATE ROLE ", role));
  database_.Run(absl::StrCat("CREATE SCHEMA skiplane AUTHORIZATION ", role));
  ASSERT_THAT(Apply({kFirst}), IsOk());
  database_.Run(absl::StrCat("ALTER DATABASE ", database_.name(), " SET role = ", role));
  EXPECT_THAT(Apply({kFirst, kSecond}), IsOkAndHolds(1));
  database_.Run(absl::StrCat("SET ROLE NONE; DROP OWNED BY ", role, "; DROP ROLE ", role));
}

TEST_F(MigratorTest, TheBrokersOwnMigrationsApplyToAnEmptyDatabase) {
  EXPECT_THAT(Migrate(Options()), IsOkAndHolds(LatestSchemaVersion()));
  EXPECT_THAT(Migrate(Options()), IsOkAndHolds(0));
  EXPECT_THAT(SchemaVersion(*Open()), IsOkAndHolds(LatestSchemaVersion()));
}

// Whoever of its members migrates, or a superuser.
TEST_F(MigratorTest, WhatALaterVersionMakesBelongsToWhoOwnsTheSchema) {
  const std::string role = absl::StrCat("owner_", database_.name());
  database_.Run(absl::StrCat("CREATE ROLE ", role));
  database_.Run(absl::StrCat("CREATE SCHEMA skiplane AUTHORIZATION ", role));
  ASSERT_THAT(Apply({kFirst}), IsOk());
  EXPECT_EQ(database_.Run("SELECT string_agg(DISTINCT tableowner, ' ') FROM pg_tables "
                          "WHERE schemaname = 'skiplane' AND tablename IN ('one', "
                          "'schema_version')"),
            role);
  database_.Run(absl::StrCat("DROP OWNED BY ", role, "; DROP ROLE ", role));
}

TEST_F(MigratorTest, AServerThatIsNewEnoughPassesTheCheck) {
  EXPECT_THAT(CheckServerVersion(*Open()), IsOk());
}

}  // namespace
}  // namespace skiplane::pg
