#include "server/pg/refusals.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"

namespace skiplane::pg {
namespace {

// PostgreSQL names the object, but not the right that is missing. A server that speaks another
// language than English gets the last line.
absl::string_view Advice(absl::string_view message) {
  constexpr std::pair<absl::string_view, absl::string_view> kAdvice[] = {
      {"permission denied for database",
       "GRANT CREATE ON DATABASE, or migrate as a role that has it"},
      {"must be owner of", "ALTER ... OWNER TO, or migrate as the owner"},
  };
  for (const auto& [start, advice] : kAdvice) {
    if (absl::StartsWith(message, start)) return advice;
  }
  return "GRANT skiplane_broker TO that role, or see OPERATIONS under Roles";
}

}  // namespace

absl::Status SchemaMissing() {
  return base::Refuse(
      absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE",
      "the database lacks the schema skiplane; nothing was changed. An operator has to restore it, "
      "or to run `skiplaned migrate` on a new database");
}

absl::Status SchemaOlder(int version, int needed) {
  return base::Refuse(
      absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE",
      absl::StrCat("the schema of the database has version ", version, " and this broker needs ",
                   needed, "; nothing was changed. An operator has to run `skiplaned migrate`"));
}

absl::Status PermissionDenied(absl::string_view message) {
  return base::Refuse(absl::StatusCode::kFailedPrecondition, "DATABASE_PERMISSION_DENIED",
                      absl::StrCat("the broker's role in the database lacks a right: ", message,
                                   "; nothing was changed. An operator has to mend it: ",
                                   Advice(message)));
}

absl::Status ReadOnly() {
  return base::Refuse(absl::StatusCode::kUnavailable, "DATABASE_READ_ONLY",
                      "the database takes no writes, as a standby does; nothing was changed");
}

absl::Status PoolerNotSupported() {
  return base::Refuse(
      absl::StatusCode::kFailedPrecondition, "POOLER_NOT_SUPPORTED",
      "the database lost or mixed up prepared statements, as a pooler in transaction mode does; "
      "nothing was changed. An operator has to connect the broker directly, or through a pooler in "
      "session mode");
}

absl::Status ConnectionShared() {
  return base::Refuse(
      absl::StatusCode::kFailedPrecondition, "POOLER_NOT_SUPPORTED",
      "the broker shares its connections to the database with others, as behind a pooler in "
      "transaction or statement mode: commits could be lost; nothing was changed. An operator has "
      "to connect the broker directly, or through a pooler in session mode (pool_mode = session)");
}

absl::Status Distributed(int64_t tables) {
  return base::Refuse(
      absl::StatusCode::kFailedPrecondition, "DATABASE_DISTRIBUTED",
      absl::StrCat("Citus has distributed tables of the schema skiplane (", tables,
                   "), which this version does not know; nothing was changed. An operator has to "
                   "undistribute them, or to use a database whose tables are plain"));
}

absl::Status NotDurable(absl::string_view setting, absl::string_view value) {
  return base::Refuse(
      absl::StatusCode::kFailedPrecondition, "DATABASE_NOT_DURABLE",
      absl::StrCat("the database has ", setting, "=", value,
                   " and may lose what it has committed; nothing was changed. An operator has to "
                   "set it to on, or to start the broker with --allow-unsafe-durability"));
}

absl::Status StandbyAway(int64_t waiting) {
  return base::Refuse(
      absl::StatusCode::kUnavailable, "SYNCHRONOUS_STANDBY_AWAY",
      absl::StrCat("commits wait for a synchronous standby that does not answer (", waiting,
                   " of this broker do); nothing was changed. An operator has to bring the standby "
                   "back, or to take it out of synchronous_standby_names"));
}

}  // namespace skiplane::pg
