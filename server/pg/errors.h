// What libpqxx's exceptions mean to us: the map from SQLSTATE to status that session.h promises.
//
// Defects are logged here under a random id, with the primary message only; the status has nothing
// but the id. Thread-safe.
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
};

// For the exception that is being handled: to be called in a catch block only.
Failure ExplainException(absl::string_view statement);

// `message` is PostgreSQL's; its first line is logged if this is a defect.
Failure ExplainSqlstate(absl::string_view sqlstate, absl::string_view statement,
                        absl::string_view message);

// DATABASE_UNAVAILABLE, for a statement that was not sent.
absl::Status NotConnected();

// Whether `status` says that a lock was waited for until lock_timeout.
bool IsLockTimeout(const absl::Status& status);

// The first line of a message of PostgreSQL or libpq, without its severity. DETAIL, CONTEXT and SQL
// text come on later lines.
absl::string_view PrimaryMessage(absl::string_view message);

}  // namespace skiplane::pg
