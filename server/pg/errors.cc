#include "server/pg/errors.h"

#include <pqxx/pqxx>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/log.h"
#include "server/base/reason.h"
#include "server/pg/log_limit.h"
#include "server/pg/outcome.h"
#include "server/pg/refusals.h"

namespace skiplane::pg {
namespace {

constexpr absl::string_view kConnectionClass = "08";

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
             {"message", std::string(message)}});
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
  return {WithUnknownOutcome(base::Refuse(
              absl::StatusCode::kUnknown, "COMMIT_OUTCOME_UNKNOWN",
              "the connection to the database broke while the change was under way; it may or may "
              "not have happened")),
          true, std::string(kConnectionClass)};
}

// A part of the database, or a server behind it, is away: this server has answered.
absl::Status PartUnavailable() {
  return base::Refuse(absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE",
                      "the database cannot reach a part of itself, or is out of connections; "
                      "nothing was changed");
}

// A table, column, function or schema that is not there.
bool IsMissing(absl::string_view sqlstate) {
  return sqlstate == "42P01" || sqlstate == "42703" || sqlstate == "42883" || sqlstate == "3F000";
}

// The server ends the connection with it.
bool IsHangUp(absl::string_view sqlstate) {
  return sqlstate == "57P01" || sqlstate == "57P02" || sqlstate == "57P03" ||
         sqlstate == "57P05" || sqlstate == "25P03";
}

bool IsPoolers(absl::string_view sqlstate) { return sqlstate == "42P05" || sqlstate == "26000"; }

// "cached plan must not change result type": the schema has changed under a prepared statement. All
// else that has this SQLSTATE would fail when it is prepared anew, too.
bool IsStalePlan(absl::string_view sqlstate, const FailedStatement& failed) {
  return sqlstate == "0A000" && failed.has_worked;
}

// Of what is nobody's defect but does not pass by itself; the others come with the traffic.
bool IsForOperators(absl::string_view sqlstate) {
  return sqlstate == "42501" || sqlstate == "25006" || sqlstate == "53300" ||
         IsPoolers(sqlstate) || absl::StartsWith(sqlstate, kConnectionClass);
}

void LogRefusal(absl::string_view sqlstate, const FailedStatement& failed,
                absl::string_view message) {
  static LogLimit* const limit = new LogLimit;
  if (!limit->Allows(absl::StrCat(sqlstate, message))) return;
  base::Log(base::LogLevel::kWarn, "statement_refused",
            {{"statement", std::string(failed.statement)},
             {"sqlstate", std::string(sqlstate)},
             {"message", std::string(message)}});
}

absl::Status StatusOf(absl::string_view sqlstate, const FailedStatement& failed,
                      absl::string_view message) {
  if (IsHangUp(sqlstate)) return NotConnected();
  if (sqlstate == "42501") return PermissionDenied(message);
  if (sqlstate == "25006") return ReadOnly();
  if (IsPoolers(sqlstate)) return PoolerNotSupported();
  if (sqlstate == "53300" || absl::StartsWith(sqlstate, kConnectionClass)) return PartUnavailable();
  if (sqlstate == "40001" || sqlstate == "40P01") return Conflict();
  if (sqlstate == "55P03") return LockTimeout();
  if (IsStalePlan(sqlstate, failed)) return Conflict();
  if (sqlstate == "57014") {
    return base::Refuse(absl::StatusCode::kDeadlineExceeded, "STATEMENT_TIMEOUT",
                        "the database did not finish in time; nothing was changed");
  }
  if (sqlstate == "53100") {
    return base::Refuse(absl::StatusCode::kResourceExhausted, "DATABASE_FULL",
                        "the database has no room left");
  }
  if (sqlstate == "23505") return absl::AlreadyExistsError("already exists");
  return Defect(sqlstate, failed.statement, message);
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

absl::Status ExplainNoConnection(absl::string_view message) {
  // Of several hosts one may be a standby and the others away: then this is what it comes to.
  return absl::StrContains(message, "session is read-only") ? ReadOnly() : NotConnected();
}

Failure ExplainSqlstate(absl::string_view sqlstate, const FailedStatement& failed,
                        absl::string_view message) {
  // libpq itself gave up on the answer: the server may have committed.
  if (sqlstate.empty()) return OutcomeUnknown();
  message = PrimaryMessage(message);
  if (IsForOperators(sqlstate)) LogRefusal(sqlstate, failed, message);
  // Another connection may lead to another server, or have its own statements.
  const bool is_broken = !failed.is_open || IsHangUp(sqlstate) || sqlstate == "25006" ||
                         IsPoolers(sqlstate);
  return {StatusOf(sqlstate, failed, message), is_broken, std::string(sqlstate.substr(0, 2)),
          IsStalePlan(sqlstate, failed), IsMissing(sqlstate)};
}

// libpqxx leaves the SQLSTATE out of some exceptions, and throws all of class 08 as lost
// connections.
Failure ExplainException(const FailedStatement& failed) {
  try {
    throw;
  } catch (const pqxx::insufficient_privilege& error) {
    return ExplainSqlstate("42501", failed, error.what());
  } catch (const pqxx::too_many_connections& error) {
    return ExplainSqlstate("53300", failed, error.what());
  } catch (const pqxx::broken_connection& error) {
    if (!failed.is_open) return OutcomeUnknown();
    return ExplainSqlstate(kConnectionClass, failed, error.what());
  } catch (const pqxx::in_doubt_error&) {
    return OutcomeUnknown();
  } catch (const pqxx::statement_completion_unknown&) {
    return OutcomeUnknown();
  } catch (const pqxx::transaction_rollback&) {
    return {Conflict(), !failed.is_open, "40"};
  } catch (const pqxx::sql_error& error) {
    return ExplainSqlstate(error.sqlstate(), failed, error.what());
  } catch (const std::exception& error) {
    const bool is_lost = !failed.is_open && dynamic_cast<const pqxx::failure*>(&error) != nullptr;
    if (is_lost) return OutcomeUnknown();
    return {Defect("", failed.statement, PrimaryMessage(error.what())), true, "XX"};
  }
}

}  // namespace skiplane::pg
