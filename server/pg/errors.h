// What libpqxx's exceptions mean to us: the map from SQLSTATE to status that session.h promises.
//
// What an operator has to know is logged here, with the primary message only: defects under a
// random id, of which the status has nothing but the id; refusals once in ten seconds. Thread-safe.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::pg {

struct Failure {
  absl::Status status;
  // The connection must not be used again.
  bool is_broken = false;
  // The first two characters of the SQLSTATE, a metric's label. "08" for a lost connection.
  std::string sqlstate_class;
  // The statement has to be prepared anew.
  bool is_stale = false;
  // Something is not there: the statement is wrong, or the schema is away.
  bool is_missing = false;
};

// The statement that failed, and what its session knows.
struct FailedStatement {
  absl::string_view statement;
  bool is_open = true;      // the connection works still: what came was an answer
  bool has_worked = false;  // it ran on this connection before, so that its plan may be out of date
};

// For the exception that is being handled: to be called in a catch block only.
Failure ExplainException(const FailedStatement& failed);

// `message` is PostgreSQL's, of which the first line may be logged.
Failure ExplainSqlstate(absl::string_view sqlstate, const FailedStatement& failed,
                        absl::string_view message);

// What it means that a connection could not be made, told by libpq's message: it gives no SQLSTATE.
absl::Status ExplainNoConnection(absl::string_view message);

// DATABASE_UNAVAILABLE, for a statement that was not sent.
absl::Status NotConnected();

// Whether `status` says that a lock was waited for until lock_timeout.
bool IsLockTimeout(const absl::Status& status);

// The first line of a message of PostgreSQL or libpq, without its severity. DETAIL, CONTEXT and SQL
// text come on later lines.
absl::string_view PrimaryMessage(absl::string_view message);

}  // namespace skiplane::pg
