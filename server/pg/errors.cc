#include "server/pg/errors.h"

#include <pqxx/pqxx>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/log.h"
#include "server/base/reason.h"

namespace skiplane::pg {
namespace {

constexpr absl::string_view kConnectionLost = "08";

std::string RandomId() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8));
}

absl::Status Defect(absl::string_view sqlstate, absl::string_view statement,
                    absl::string_view message) {
  const std::string id = RandomId();
  base::Log(base::LogLevel::kError, "statement_failed",
            {{"statement", std::string(statement)},
             {"sqlstate", std::string(sqlstate)},
             {"id", id},
             {"message", std::string(PrimaryMessage(message))}});
  return base::Refuse(absl::StatusCode::kInternal, "INTERNAL_ERROR",
                      absl::StrCat("internal error ", id));
}

absl::Status Conflict() {
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "the database broke the transaction off; call again");
}

constexpr absl::string_view kLockTimeout = "skiplane.lock_timeout";

absl::Status LockTimeout() {
  absl::Status status = base::Refuse(
      absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
      "another transaction held a lock in the database for too long; nothing was changed: call "
      "again");
  status.SetPayload(kLockTimeout, absl::Cord());
  return status;
}

Failure OutcomeUnknown() {
  return {base::Refuse(absl::StatusCode::kUnknown, "COMMIT_OUTCOME_UNKNOWN",
                       "the connection to the database broke while the change was under way; it "
                       "may or may not have happened"),
          true, std::string(kConnectionLost)};
}

bool IsUnavailable(absl::string_view sqlstate) {
  return absl::StartsWith(sqlstate, "08") || sqlstate == "57P01" || sqlstate == "57P02" ||
         sqlstate == "57P03" || sqlstate == "25006" || sqlstate == "53300";
}

// A statement whose plan no longer fits the schema, or that a pooler forgot: a new connection
// prepares it anew.
bool IsStalePlan(absl::string_view sqlstate) { return sqlstate == "0A000" || sqlstate == "26000"; }

absl::Status StatusOf(absl::string_view sqlstate, absl::string_view statement,
                      absl::string_view message) {
  if (IsUnavailable(sqlstate)) return NotConnected();
  if (sqlstate == "40001" || sqlstate == "40P01") return Conflict();
  if (sqlstate == "55P03") return LockTimeout();
  if (sqlstate == "57014") {
    return base::Refuse(absl::StatusCode::kDeadlineExceeded, "STATEMENT_TIMEOUT",
                        "the database did not finish in time; nothing was changed");
  }
  if (sqlstate == "53100") {
    return base::Refuse(absl::StatusCode::kResourceExhausted, "STORAGE_FULL",
                        "the database has no room left");
  }
  if (sqlstate == "23505") return absl::AlreadyExistsError("already exists");
  return Defect(sqlstate, statement, message);
}

}  // namespace

absl::Status NotConnected() {
  return base::Refuse(absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE",
                      "the database cannot be reached; nothing was changed");
}

bool IsLockTimeout(const absl::Status& status) {
  return status.GetPayload(kLockTimeout).has_value();
}

absl::string_view PrimaryMessage(absl::string_view message) {
  message = message.substr(0, message.find('\n'));
  for (const absl::string_view severity : {"ERROR:", "FATAL:", "PANIC:"}) {
    if (absl::ConsumePrefix(&message, severity)) break;
  }
  return absl::StripLeadingAsciiWhitespace(message);
}

Failure ExplainSqlstate(absl::string_view sqlstate, absl::string_view statement,
                        absl::string_view message) {
  // libpq itself gave up on the answer: the server may have committed.
  if (sqlstate.empty()) return OutcomeUnknown();
  return {StatusOf(sqlstate, statement, message), IsUnavailable(sqlstate) || IsStalePlan(sqlstate),
          std::string(sqlstate.substr(0, 2))};
}

Failure ExplainException(absl::string_view statement) {
  try {
    throw;
  } catch (const pqxx::broken_connection&) {
    return OutcomeUnknown();
  } catch (const pqxx::in_doubt_error&) {
    return OutcomeUnknown();
  } catch (const pqxx::statement_completion_unknown&) {
    return OutcomeUnknown();
  } catch (const pqxx::transaction_rollback&) {
    return {Conflict(), false, "40"};
  } catch (const pqxx::sql_error& error) {
    return ExplainSqlstate(error.sqlstate(), statement, error.what());
  } catch (const std::exception& error) {
    return {Defect("", statement, error.what()), true, "XX"};
  }
}

}  // namespace skiplane::pg
