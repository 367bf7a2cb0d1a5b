#include "server/pg/errors.h"

#include <pqxx/pqxx>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/log.h"
#include "server/pg/outcome.h"
#include "tests/support/status_matchers.h"

namespace skiplane::pg {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReasonIs;
using testing::StatusIs;

TEST(ErrorsTest, EverySqlstateHasTheStatusThatSessionPromises) {
  const struct {
    const char* sqlstate;
    absl::StatusCode code;
    const char* reason;
    bool is_broken;
  } cases[] = {
      {"57P01", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", true},
      {"57P02", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", true},
      {"57P03", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", true},
      {"57P05", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", true},
      {"25P03", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", true},
      {"08006", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", false},
      {"53300", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", false},
      {"25006", absl::StatusCode::kUnavailable, "DATABASE_READ_ONLY", true},
      {"42501", absl::StatusCode::kFailedPrecondition, "DATABASE_PERMISSION_DENIED", false},
      {"42P05", absl::StatusCode::kFailedPrecondition, "POOLER_NOT_SUPPORTED", true},
      {"26000", absl::StatusCode::kFailedPrecondition, "POOLER_NOT_SUPPORTED", true},
      {"40001", absl::StatusCode::kAborted, "TRANSACTION_CONFLICT", false},
      {"40P01", absl::StatusCode::kAborted, "TRANSACTION_CONFLICT", false},
      {"55P03", absl::StatusCode::kAborted, "TRANSACTION_CONFLICT", false},
      {"57014", absl::StatusCode::kDeadlineExceeded, "STATEMENT_TIMEOUT", false},
      {"53100", absl::StatusCode::kResourceExhausted, "DATABASE_FULL", false},
      {"23505", absl::StatusCode::kAlreadyExists, "", false},
      {"42P01", absl::StatusCode::kInternal, "INTERNAL_ERROR", false},
      {"0A000", absl::StatusCode::kInternal, "INTERNAL_ERROR", false},
      {"", absl::StatusCode::kUnknown, "COMMIT_OUTCOME_UNKNOWN", true},
  };
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected.sqlstate);
    const Failure failure = ExplainSqlstate(expected.sqlstate, {"task_lease"}, "ERROR:  m\nsecret");
    EXPECT_THAT(failure.status, StatusIs(expected.code));
    EXPECT_THAT(failure.status, ReasonIs(expected.reason));
    EXPECT_EQ(failure.is_broken, expected.is_broken);
    EXPECT_THAT(failure.status.ToString(), Not(HasSubstr("secret")));
  }
}

template <typename Exception>
Failure Explain(const Exception& exception, bool is_open = true) {
  try {
    throw exception;
  } catch (...) {
    return ExplainException({"task_lease", is_open});
  }
}

// The connection broke: nothing was answered.
template <typename Exception>
Failure ExplainLost(const Exception& exception) {
  return Explain(exception, false);
}

TEST(ErrorsTest, ExceptionsWithoutSqlstateAreToldByTheirType) {
  EXPECT_THAT(ExplainLost(pqxx::broken_connection("x")).status, ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_TRUE(ExplainLost(pqxx::broken_connection("x")).is_broken);
  EXPECT_THAT(ExplainLost(pqxx::failure("x")).status, ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_THAT(Explain(pqxx::in_doubt_error("x")).status, ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_THAT(Explain(pqxx::statement_completion_unknown("x")).status,
              ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_THAT(Explain(pqxx::deadlock_detected("x")).status, ReasonIs("TRANSACTION_CONFLICT"));
  EXPECT_THAT(Explain(pqxx::serialization_failure("x")).status, ReasonIs("TRANSACTION_CONFLICT"));
  EXPECT_THAT(Explain(std::bad_alloc()).status, ReasonIs("INTERNAL_ERROR"));
}

TEST(ErrorsTest, AnErrorOfClass08ThatCameAsAnAnswerIsNoLostConnection) {
  const Failure failure = Explain(pqxx::broken_connection("ERROR:  could not reach node"));
  EXPECT_THAT(failure.status, ReasonIs("DATABASE_UNAVAILABLE"));
  EXPECT_FALSE(failure.is_broken);
  EXPECT_EQ(OutcomeOf(failure.status), CommitOutcome::kRolledBack);
}

TEST(ErrorsTest, EachErrorIsCountedAsWhatItIs) {
  EXPECT_EQ(Explain(pqxx::insufficient_privilege("x")).sqlstate_class, "42");
  EXPECT_EQ(Explain(pqxx::too_many_connections("x")).sqlstate_class, "53");
  EXPECT_EQ(Explain(pqxx::deadlock_detected("x")).sqlstate_class, "40");
  EXPECT_EQ(Explain(pqxx::broken_connection("x")).sqlstate_class, "08");
  EXPECT_EQ(ExplainSqlstate("25006", {"q"}, "").sqlstate_class, "25");
}

TEST(ErrorsTest, OnlyALostConnectionLeavesTheOutcomeOpen) {
  EXPECT_EQ(OutcomeOf(absl::OkStatus()), CommitOutcome::kCommitted);
  EXPECT_EQ(OutcomeOf(ExplainLost(pqxx::broken_connection("x")).status), CommitOutcome::kUnknown);
  EXPECT_EQ(OutcomeOf(ExplainSqlstate("", {"q"}, "").status), CommitOutcome::kUnknown);
  EXPECT_EQ(OutcomeOf(ExplainSqlstate("40001", {"q"}, "").status), CommitOutcome::kRolledBack);
  EXPECT_EQ(OutcomeOf(Explain(pqxx::insufficient_privilege("x")).status),
            CommitOutcome::kRolledBack);
  EXPECT_EQ(OutcomeOf(NotConnected()), CommitOutcome::kRolledBack);
}

TEST(ErrorsTest, AMissingRightIsToldWithItsObjectAndItsGrant) {
  const auto message = [](const char* text) {
    return std::string(
        Explain(pqxx::insufficient_privilege(absl::StrCat("ERROR:  ", text, "\nDETAIL:  secret")))
            .status.message());
  };
  EXPECT_THAT(message("permission denied for table task"),
              AllOf(HasSubstr("for table task;"), HasSubstr("GRANT skiplane_broker TO"),
                    Not(HasSubstr("secret"))));
  EXPECT_THAT(message("permission denied for database prod"),
              AllOf(HasSubstr("database prod"), HasSubstr("GRANT CREATE ON DATABASE")));
  EXPECT_THAT(message("keine Berechtigung"), AllOf(HasSubstr("keine"), HasSubstr("OPERATIONS")));
}

TEST(ErrorsTest, ARefusalIsLoggedOnceInAWhile) {
  ::testing::internal::CaptureStderr();
  const pqxx::insufficient_privilege denied("ERROR:  permission denied for table once\nsecret");
  for (int i = 0; i < 3; ++i) Explain(denied);
  base::FlushLog();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("statement_refused"));
  EXPECT_THAT(log, HasSubstr("sqlstate=42501"));
  EXPECT_THAT(log, Not(HasSubstr("secret")));
  EXPECT_EQ(log.find("table once"), log.rfind("table once")) << log;
}

TEST(ErrorsTest, OnlyAStatementThatHasWorkedMayHaveAStalePlan) {
  const Failure stale = ExplainSqlstate("0A000", {"q", true, true}, "ERROR:  m");
  EXPECT_THAT(stale.status, ReasonIs("TRANSACTION_CONFLICT"));
  EXPECT_TRUE(stale.is_stale);
  EXPECT_FALSE(stale.is_broken);
  EXPECT_FALSE(ExplainSqlstate("0A000", {"q"}, "ERROR:  m").is_stale);
}

TEST(ErrorsTest, AServerThatTakesNoWritesIsToldFromOneThatIsAway) {
  EXPECT_THAT(ExplainNoConnection("connection to server at \"a\" failed: refused\n"
                                  "connection to server at \"b\" failed: session is read-only\n"),
              ReasonIs("DATABASE_READ_ONLY"));
  EXPECT_THAT(ExplainNoConnection("failed: refused"), ReasonIs("DATABASE_UNAVAILABLE"));
}

TEST(ErrorsTest, TheIdOfADefectIsNewEachTime) {
  const absl::Status one = ExplainSqlstate("22012", {"q"}, "ERROR:  m").status;
  const absl::Status other = ExplainSqlstate("22012", {"q"}, "ERROR:  m").status;
  EXPECT_THAT(std::string(one.message()), ::testing::MatchesRegex("internal error [0-9a-f]{16}"));
  EXPECT_NE(one.message(), other.message());
}

TEST(ErrorsTest, ThePrimaryMessageIsTheFirstLineWithoutItsSeverity) {
  EXPECT_EQ(PrimaryMessage("ERROR:  duplicate key\nDETAIL:  Key (k)=(secret) exists.\n"),
            "duplicate key");
  EXPECT_EQ(PrimaryMessage("FATAL:  terminating"), "terminating");
  EXPECT_EQ(PrimaryMessage("no severity"), "no severity");
  EXPECT_EQ(PrimaryMessage(""), "");
}

}  // namespace
}  // namespace skiplane::pg
