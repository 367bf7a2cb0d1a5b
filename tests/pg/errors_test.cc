#include "server/pg/errors.h"

#include <pqxx/pqxx>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace skiplane::pg {
namespace {

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
      {"08006", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", true},
      {"25006", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", true},
      {"53300", absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", true},
      {"40001", absl::StatusCode::kAborted, "TRANSACTION_CONFLICT", false},
      {"40P01", absl::StatusCode::kAborted, "TRANSACTION_CONFLICT", false},
      {"55P03", absl::StatusCode::kAborted, "TRANSACTION_CONFLICT", false},
      {"57014", absl::StatusCode::kDeadlineExceeded, "STATEMENT_TIMEOUT", false},
      {"53100", absl::StatusCode::kResourceExhausted, "STORAGE_FULL", false},
      {"23505", absl::StatusCode::kAlreadyExists, "", false},
      {"42P01", absl::StatusCode::kInternal, "INTERNAL_ERROR", false},
      {"0A000", absl::StatusCode::kInternal, "INTERNAL_ERROR", true},
      {"", absl::StatusCode::kUnknown, "COMMIT_OUTCOME_UNKNOWN", true},
  };
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected.sqlstate);
    const Failure failure = ExplainSqlstate(expected.sqlstate, "task_lease", "ERROR:  secret");
    EXPECT_THAT(failure.status, StatusIs(expected.code));
    EXPECT_THAT(failure.status, ReasonIs(expected.reason));
    EXPECT_EQ(failure.is_broken, expected.is_broken);
    EXPECT_THAT(failure.status.ToString(), Not(HasSubstr("secret")));
  }
}

template <typename Exception>
Failure Explain(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return ExplainException("task_lease");
  }
}

TEST(ErrorsTest, ExceptionsWithoutSqlstateAreToldByTheirType) {
  EXPECT_THAT(Explain(pqxx::broken_connection("x")).status, ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_TRUE(Explain(pqxx::broken_connection("x")).is_broken);
  EXPECT_THAT(Explain(pqxx::in_doubt_error("x")).status, ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_THAT(Explain(pqxx::statement_completion_unknown("x")).status,
              ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_THAT(Explain(pqxx::deadlock_detected("x")).status, ReasonIs("TRANSACTION_CONFLICT"));
  EXPECT_THAT(Explain(pqxx::serialization_failure("x")).status, ReasonIs("TRANSACTION_CONFLICT"));
  EXPECT_THAT(Explain(std::bad_alloc()).status, ReasonIs("INTERNAL_ERROR"));
}

TEST(ErrorsTest, TheIdOfADefectIsNewEachTime) {
  const absl::Status one = ExplainSqlstate("22012", "q", "ERROR:  m").status;
  const absl::Status other = ExplainSqlstate("22012", "q", "ERROR:  m").status;
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
