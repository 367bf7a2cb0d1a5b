#include "server/pg/session.h"

#include <thread>

#include "gmock/gmock.h"
#include "server/base/log.h"
#include "server/pg/outcome.h"
#include "tests/pg/session_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::pg {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::IsOk;
using testing::ReasonIs;
using testing::StatusIs;

constexpr sql::Query kOne{"one", "SELECT 1"};

class SessionTest : public testing::SessionHarness {
 protected:
  // Returns when that backend runs a statement that contains `text`.
  void WaitUntilRuns(int backend_pid, const std::string& text) const {
    database_.Run(absl::StrCat(
        "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = ", backend_pid,
        " AND state = 'active' AND query LIKE '%", text,
        "%') LOOP PERFORM pg_stat_clear_snapshot(); END LOOP; END $$"));
  }
};

TEST_F(SessionTest, SettingsAreThoseThatTheBrokerNeeds) {
  const auto session = Open();
  const std::pair<const char*, const char*> settings[] = {
      {"synchronous_commit", "on"},
      {"statement_timeout", "10s"},
      {"lock_timeout", "2s"},
      {"TimeZone", "UTC"},
      {"client_encoding", "UTF8"},
      {"enable_hashjoin", "off"},
      {"enable_mergejoin", "off"},
      {"enable_seqscan", "off"},
      {"enable_bitmapscan", "off"},
      {"jit", "off"},
      {"plan_cache_mode", "force_generic_plan"},
      {"default_transaction_isolation", "read committed"},
      {"idle_in_transaction_session_timeout", "5s"},
      {"application_name", "skiplaned"},
  };
  for (const auto& [name, value] : settings) {
    const Rows rows = testing::Required(session->RunText(absl::StrCat("SHOW ", name)));
    EXPECT_EQ(rows.Text(0, 0), value) << name;
  }
}

TEST_F(SessionTest, SettingsWinOverThoseOfTheDatabase) {
  database_.Run(absl::StrCat("ALTER DATABASE ", database_.name(), " SET synchronous_commit = off"));
  const auto session = Open();
  EXPECT_EQ(testing::Required(session->RunText("SHOW synchronous_commit")).Text(0, 0), "on");
}

// Bytes in the other form once ended the broker at its first lease.
TEST_F(SessionTest, AnswersHaveTheFormThatIsReadHereWhateverTheDatabaseSays) {
  database_.Run(absl::StrCat("ALTER DATABASE ", database_.name(), " SET bytea_output = 'escape'"));
  database_.Run(absl::StrCat("ALTER DATABASE ", database_.name(), " SET DateStyle = 'German'"));
  const auto session = Open();
  const Rows rows = testing::Required(session->RunText("SELECT '\\x0041ff'::bytea"));
  EXPECT_EQ(rows.Bytea(0, 0), std::string("\0A\xff", 3));
  EXPECT_EQ(testing::Required(session->RunText("SELECT date '2026-11-22'::text")).Text(0, 0),
            "2026-11-22");
}

TEST_F(SessionTest, AStatementIsPreparedOnceOnFirstUse) {
  const auto session = Open();
  ASSERT_THAT(session->Run(kOne, Params()), IsOk());
  ASSERT_THAT(session->Run(kOne, Params()), IsOk());
  const Rows rows = testing::Required(
      session->RunText("SELECT generic_plans + custom_plans FROM pg_prepared_statements "
                       "WHERE name = 'one'"));
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows.Int(0, 0), 2);
}

TEST_F(SessionTest, EachStatementIsItsOwnTransaction) {
  const auto session = Open();
  ASSERT_THAT(session->RunText("CREATE TABLE t (v int)"), IsOk());
  ASSERT_THAT(session->Run({"put", "INSERT INTO t VALUES ($1::int4)"}, Params().Int4(7)), IsOk());
  EXPECT_EQ(database_.Run("SELECT v FROM t"), "7");
}

TEST_F(SessionTest, AUniqueViolationIsLeftToTheStore) {
  const auto session = Open();
  ASSERT_THAT(session->RunText("CREATE TABLE t (v text UNIQUE)"), IsOk());
  const sql::Query put{"put", "INSERT INTO t VALUES ($1::text)"};
  ASSERT_THAT(session->Run(put, Params().Text("secret")), IsOk());
  const absl::Status status = session->Run(put, Params().Text("secret")).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(status, ReasonIs(""));
  EXPECT_THAT(status.ToString(), Not(HasSubstr("secret")));
  EXPECT_TRUE(session->alive());
}

TEST_F(SessionTest, ADefectIsReportedByIdWithoutSqlText) {
  const auto session = Open();
  const absl::Status status =
      session->Run({"divide", "SELECT 1 / $1::int4"}, Params().Int4(0)).status();
  EXPECT_THAT(status, ReasonIs("INTERNAL_ERROR"));
  EXPECT_THAT(std::string(status.message()),
              ::testing::MatchesRegex("internal error [0-9a-f]{16}"));
  EXPECT_TRUE(session->alive());
  EXPECT_THAT(session->Run(kOne, Params()), IsOk());
}

TEST_F(SessionTest, TheLogOfADefectHasThePrimaryMessageOnly) {
  const auto session = Open();
  ASSERT_THAT(session->RunText("CREATE TABLE t (v text CHECK (v = ''))"), IsOk());
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(
      session->Run({"put", "INSERT INTO t VALUES ($1::text)"}, Params().Text("secret")).ok());
  base::FlushLog();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("statement_failed"));
  EXPECT_THAT(log, HasSubstr("23514"));
  EXPECT_THAT(log, HasSubstr("violates check constraint"));
  EXPECT_THAT(log, Not(HasSubstr("secret")));
  EXPECT_THAT(log, Not(HasSubstr("INSERT")));
}

TEST_F(SessionTest, AStatementThatTakesTooLongIsEnded) {
  pg::ConnectOptions options = Options();
  options.statement_timeout = absl::Seconds(1);
  const auto session = Open(options);
  EXPECT_THAT(session->RunText("SELECT pg_sleep(60)"), ReasonIs("STATEMENT_TIMEOUT"));
  EXPECT_TRUE(session->alive());
  EXPECT_THAT(session->Run(kOne, Params()), IsOk());
}

TEST_F(SessionTest, WaitingTooLongForALockIsAConflict) {
  pg::ConnectOptions options = Options();
  options.lock_timeout = absl::Milliseconds(20);
  const auto holder = Open();
  const auto waiter = Open(options);
  ASSERT_THAT(holder->RunText("SELECT pg_advisory_lock(1)"), IsOk());
  EXPECT_THAT(waiter->RunText("SELECT pg_advisory_lock(1)"), ReasonIs("TRANSACTION_CONFLICT"));
  EXPECT_TRUE(waiter->alive());
}

TEST_F(SessionTest, ABackendLostInMidStatementLeavesTheOutcomeUnknown) {
  const auto session = Open();
  absl::Status status;
  std::thread runner([&] { status = session->RunText("SELECT pg_sleep(60)").status(); });
  WaitUntilRuns(session->backend_pid(), "pg_sleep(60)");
  Terminate(session->backend_pid());
  runner.join();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnknown));
  EXPECT_THAT(status, ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_FALSE(session->alive());
  EXPECT_THAT(session->Run(kOne, Params()), ReasonIs("DATABASE_UNAVAILABLE"));
}

TEST_F(SessionTest, ABackendLostBetweenStatementsIsKnownToHaveDoneNothing) {
  const auto session = Open();
  Terminate(session->backend_pid());
  EXPECT_FALSE(session->alive());
  EXPECT_THAT(session->Run(kOne, Params()), ReasonIs("DATABASE_UNAVAILABLE"));
}

TEST_F(SessionTest, AServerThatDoesNotAnswerIsGivenUpAndOthersAreNot) {
  ConnectOptions options = Options();
  options.statement_timeout = absl::Seconds(1);
  options.tcp_user_timeout = absl::Seconds(1);
  const auto idle = Open(options);
  const auto deaf = Open(options);
  ASSERT_THAT(idle->Run(kOne, Params()), IsOk());
  const testing::Frozen frozen(deaf->backend_pid());
  EXPECT_THAT(deaf->Run(kOne, Params()), ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_FALSE(deaf->alive());
  EXPECT_TRUE(idle->alive());
  EXPECT_THAT(idle->Run(kOne, Params()), IsOk());
}

TEST_F(SessionTest, AServerThatDoesNotListenIsUnavailable) {
  const auto session =
      Session::Open({.uri = "postgresql://bob:hunter2@/x?host=/nonexistent"}, nullptr);
  EXPECT_THAT(session.status(), ReasonIs("DATABASE_UNAVAILABLE"));
  EXPECT_THAT(session.status().ToString(), Not(HasSubstr("hunter2")));
}

TEST_F(SessionTest, AServerThatBecameReadOnlyIsLeft) {
  const auto session = Open();
  ASSERT_THAT(session->RunText("SET default_transaction_read_only = on"), IsOk());
  EXPECT_THAT(session->RunText("CREATE TABLE t (v int)"), ReasonIs("DATABASE_READ_ONLY"));
  EXPECT_FALSE(session->alive());
}

TEST_F(SessionTest, AReadOnlyServerIsNotTaken) {
  database_.Run(absl::StrCat("ALTER DATABASE ", database_.name(),
                             " SET default_transaction_read_only = on"));
  EXPECT_THAT(Session::Open(Options(), nullptr), ReasonIs("DATABASE_READ_ONLY"));
}

TEST_F(SessionTest, AMissingRightIsNoLostConnection) {
  const auto session = Open();
  ASSERT_THAT(session->RunText("CREATE TABLE guarded (v int); SET ROLE pg_monitor"), IsOk());
  const absl::Status status =
      session->Run({"put", "INSERT INTO guarded VALUES ($1::int4)"}, Params().Int4(7)).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(status, ReasonIs("DATABASE_PERMISSION_DENIED"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("permission denied for table guarded"));
  EXPECT_EQ(OutcomeOf(status), CommitOutcome::kRolledBack);
  EXPECT_TRUE(session->alive());
  EXPECT_THAT(session->Run(kOne, Params()), IsOk());
}

TEST_F(SessionTest, AnErrorOfClass08InAnAnswerLeavesTheConnection) {
  const auto session = Open();
  for (const char* const sqlstate : {"08006", "08001", "53300"}) {
    const absl::Status status =
        session
            ->RunText(absl::StrCat("DO $$BEGIN RAISE 'm' USING ERRCODE='", sqlstate, "'; END$$"))
            .status();
    EXPECT_THAT(status, ReasonIs("DATABASE_UNAVAILABLE")) << sqlstate;
    EXPECT_EQ(OutcomeOf(status), CommitOutcome::kRolledBack) << sqlstate;
    EXPECT_TRUE(session->alive()) << sqlstate;
  }
  EXPECT_THAT(session->Run(kOne, Params()), IsOk());
}

TEST_F(SessionTest, APoolerThatMixesUpPreparedStatementsIsNamed) {
  const auto forgetful = Open();
  ASSERT_THAT(forgetful->Run(kOne, Params()), IsOk());
  ASSERT_THAT(forgetful->RunText("DEALLOCATE ALL"), IsOk());
  EXPECT_THAT(forgetful->Run(kOne, Params()), ReasonIs("POOLER_NOT_SUPPORTED"));
  EXPECT_FALSE(forgetful->alive());
  const auto crowded = Open();
  ASSERT_THAT(crowded->RunText("PREPARE one AS SELECT 2"), IsOk());
  EXPECT_THAT(crowded->Run(kOne, Params()), ReasonIs("POOLER_NOT_SUPPORTED"));
  EXPECT_FALSE(crowded->alive());
}

TEST_F(SessionTest, AStalePlanIsMadeAnewAndAMissingFeatureIsADefect) {
  const auto session = Open();
  const sql::Query all{"all", "SELECT * FROM t"};
  ASSERT_THAT(session->RunText("CREATE TABLE t (v int)"), IsOk());
  ASSERT_THAT(session->Run(all, Params()), IsOk());
  ASSERT_THAT(session->RunText("ALTER TABLE t ADD w int"), IsOk());
  EXPECT_THAT(session->Run(all, Params()), ReasonIs("TRANSACTION_CONFLICT"));
  EXPECT_THAT(session->Run(all, Params()), IsOk());
  const sql::Query never{"never", "SELECT count(*) FROM t FOR UPDATE"};
  EXPECT_THAT(session->Run(never, Params()), ReasonIs("INTERNAL_ERROR"));
  EXPECT_TRUE(session->alive());
}

TEST_F(SessionTest, ACommandThatMayTakeLongHasALimitOfItsOwn) {
  ConnectOptions options = Options();
  options.statement_timeout = absl::Seconds(1);
  const auto session = Open(options);
  EXPECT_THAT(session->RunLong("SELECT pg_sleep(1.5)", absl::Minutes(1)), IsOk());
  EXPECT_THAT(session->RunText("SELECT pg_sleep(60)"), ReasonIs("STATEMENT_TIMEOUT"));
  EXPECT_THAT(session->RunLong("SELECT pg_sleep(60)", absl::Milliseconds(1)),
              ReasonIs("STATEMENT_TIMEOUT"));
  EXPECT_EQ(testing::Required(session->RunText("SHOW statement_timeout")).Text(0, 0), "1s");
}

TEST_F(SessionTest, AnotherThreadMayBreakItsConnection) {
  const auto session = Open();
  std::thread other([&] {
    WaitUntilRuns(session->backend_pid(), "pg_sleep");
    session->EndWithin(absl::ZeroDuration());
  });
  EXPECT_THAT(session->RunLong("SELECT pg_sleep(600)", absl::Minutes(20)),
              ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  other.join();
  EXPECT_FALSE(session->alive());
}

}  // namespace
}  // namespace skiplane::pg
