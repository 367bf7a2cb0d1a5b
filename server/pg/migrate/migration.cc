#include "server/pg/migrate/migration.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/pg/conflicts.h"
#include "server/pg/errors.h"
#include "server/pg/migrate/migrator.h"
#include "server/pg/requirements.h"

namespace skiplane::pg {
namespace {

// The lock's number is "skiplane" in ASCII; it must never change.
constexpr absl::string_view kLock = "SELECT pg_advisory_xact_lock(8316857068445331045)";

// Who may not make schemas may migrate one that is there, as after a restore; a restore may make it
// meanwhile.
constexpr absl::string_view kSchema =
    "DO $$ BEGIN IF to_regnamespace('skiplane') IS NULL THEN CREATE SCHEMA skiplane; END IF; "
    "EXCEPTION WHEN unique_violation OR duplicate_schema THEN NULL; END $$";

// What a version makes belongs to who owns the schema, whichever of its members migrates.
constexpr absl::string_view kAsOwner =
    "SELECT set_config('role', pg_get_userbyid(n.nspowner), true) FROM pg_namespace n "
    "WHERE n.nspname = 'skiplane' AND pg_has_role(n.nspowner, 'USAGE')";

// Callers queue behind a lock on a table that is waited for, and theirs are refused after 2 s.
constexpr absl::string_view kBriefly = "SET LOCAL lock_timeout = '1s'";
constexpr absl::Duration kPause = absl::Seconds(3);
constexpr absl::Duration kPauseAfterConflict = absl::Milliseconds(100);
constexpr absl::Duration kPatience = absl::Minutes(10);  // also for another process that migrates

constexpr absl::string_view kInTheWay =
    "SELECT coalesce(string_agg(DISTINCT l.pid::text, ' '), '') FROM pg_locks l "
    "JOIN pg_class c ON c.oid = l.relation AND c.relnamespace = 'skiplane'::regnamespace "
    "JOIN pg_stat_activity a ON a.pid = l.pid AND a.xact_start < now() - interval '1 second' "
    "WHERE l.granted AND l.pid <> pg_backend_pid()";

constexpr absl::string_view kBookkeeping =
    "CREATE TABLE IF NOT EXISTS skiplane.schema_version ("
    "version int PRIMARY KEY, name text NOT NULL, "
    "apply_time timestamptz NOT NULL DEFAULT clock_timestamp())";

// Whether our bookkeeping is there; and else whether anything is, for then it is somebody else's.
constexpr absl::string_view kWhoseSchema =
    "SELECT to_regclass('skiplane.schema_version') IS NOT NULL AND EXISTS ("
    "SELECT FROM pg_attribute WHERE attrelid = to_regclass('skiplane.schema_version') "
    "AND attname = 'version' AND atttypid = 'int4'::regtype), "
    "EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('skiplane'))";

constexpr sql::Query kRecord{
    "schema_version_record",
    "INSERT INTO skiplane.schema_version (version, name) VALUES ($1::int4, $2::text)"};

int Latest(absl::Span<const Migration> migrations) {
  return migrations.empty() ? 0 : migrations.back().version;
}

absl::Status Apply(Session& session, const Migration& migration) {
  base::Log(base::LogLevel::kInfo, "migration_started",
            {{"version", absl::StrCat(migration.version)}, {"name", migration.name}});
  RETURN_IF_ERROR(session.RunText(migration.text).status());
  return session.Run(kRecord, Params().Int4(migration.version).Text(migration.name)).status();
}

// Inside a transaction. Another process may have been here while we waited for the lock.
absl::StatusOr<bool> ApplyNext(Session& session, absl::Span<const Migration> migrations) {
  for (const absl::string_view text : {kLock, kSchema, kAsOwner, kBookkeeping}) {
    RETURN_IF_ERROR(session.RunText(text).status());
  }
  ASSIGN_OR_RETURN(const int version, SchemaVersion(session));
  RETURN_IF_ERROR(CheckNotNewer(version, Latest(migrations)));
  RETURN_IF_ERROR(session.RunText(kBriefly).status());
  const auto next = std::find_if(migrations.begin(), migrations.end(),
                                 [version](const Migration& m) { return m.version > version; });
  if (next == migrations.end()) return false;
  RETURN_IF_ERROR(Apply(session, *next));
  return true;
}

absl::StatusOr<bool> ApplyNextInTransaction(Session& session,
                                            absl::Span<const Migration> migrations) {
  RETURN_IF_ERROR(session.RunText("BEGIN").status());
  absl::StatusOr<bool> applied = ApplyNext(session, migrations);
  if (!applied.ok()) {
    // If this fails too, the session's end rolls back.
    session.RunText("ROLLBACK").IgnoreError();
    return applied;
  }
  RETURN_IF_ERROR(session.RunText("COMMIT").status());
  return applied;
}

// Somebody has one of the tables for long.
absl::Status WaitALittle(Session& session) {
  ASSIGN_OR_RETURN(const Rows rows, session.RunText(kInTheWay));
  base::Log(base::LogLevel::kWarn, "migration_waits",
            {{"pids", std::string(rows.Text(0, 0))},
             {"why", "transactions of these processes use the tables: end them, or wait"}});
  absl::SleepFor(kPause);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> SchemaVersion(Session& session) {
  ASSIGN_OR_RETURN(const Rows schema, session.RunText(kWhoseSchema));
  if (!schema.Bool(0, 0)) {
    if (!schema.Bool(0, 1)) return 0;
    return absl::FailedPreconditionError(
        "the database has a schema skiplane that is not of this program: use another database, or "
        "rename that schema. Nothing was changed");
  }
  ASSIGN_OR_RETURN(const Rows rows, session.RunText(kSchemaVersion));
  return static_cast<int>(rows.Int(0, 0));
}

absl::Status CheckNotNewer(int version, int latest) {
  if (version <= latest) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the database's schema has version ", version, ", this binary knows ", latest,
                   " at most: start a newer binary"));
}

absl::StatusOr<int> ApplyMigrations(const ConnectOptions& options,
                                    absl::Span<const Migration> migrations) {
  ConnectOptions patient = options;
  patient.statement_timeout = absl::Hours(1);  // an index over a large table
  patient.lock_timeout = kPatience;
  ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(patient, nullptr));
  const absl::Time give_up = absl::Now() + kPatience;
  int count = 0;
  while (true) {
    ASSIGN_OR_RETURN(const int version, SchemaVersion(*session));
    RETURN_IF_ERROR(CheckNotNewer(version, Latest(migrations)));
    if (version == Latest(migrations)) return count;
    const absl::StatusOr<bool> applied = ApplyNextInTransaction(*session, migrations);
    if (applied.ok()) {
      count += *applied ? 1 : 0;
    } else if (IsLockTimeout(applied.status()) && absl::Now() < give_up) {
      RETURN_IF_ERROR(WaitALittle(*session));
    } else if (IsConflict(applied.status()) && absl::Now() < give_up) {
      absl::SleepFor(kPauseAfterConflict);
    } else {
      return applied.status();
    }
  }
}

}  // namespace skiplane::pg
