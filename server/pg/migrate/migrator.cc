#include "server/pg/migrate/migrator.h"

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/pg/migrate/migration.h"
#include "server/pg/migrate/migrations.h"

namespace skiplane::pg {
namespace {

constexpr int64_t kOldestServer = 150000;

constexpr absl::string_view kMissingRoles =
    "SELECT string_agg(r.name, ' ') FROM unnest(ARRAY['skiplane_owner', 'skiplane_broker', "
    "'skiplane_producer', 'skiplane_reader']) AS r(name) WHERE to_regrole(r.name) IS NULL";

// Who migrates may have no right to make them, and may need none.
absl::Status TellMissingRoles(const ConnectOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(options, nullptr));
  ASSIGN_OR_RETURN(const Rows rows, session->RunText(kMissingRoles));
  if (rows.IsNull(0, 0)) return absl::OkStatus();
  base::Log(base::LogLevel::kInfo, "roles_missing",
            {{"roles", std::string(rows.Text(0, 0))},
             {"why", "this user may not make them: run deploy/database-roles.sql, then SELECT "
                     "skiplane.grant_rights() as the schema's owner, if users are to have them"}});
  return absl::OkStatus();
}

}  // namespace

int LatestSchemaVersion() { return kMigrations.back().version; }

absl::StatusOr<int> Migrate(const ConnectOptions& options) {
  ASSIGN_OR_RETURN(const int count, ApplyMigrations(options, kMigrations));
  if (count > 0) RETURN_IF_ERROR(TellMissingRoles(options));
  return count;
}

absl::StatusOr<std::vector<std::string>> MissingMigrations(const ConnectOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(options, nullptr));
  RETURN_IF_ERROR(CheckServerVersion(*session));
  ASSIGN_OR_RETURN(const int version, SchemaVersion(*session));
  RETURN_IF_ERROR(CheckNotNewer(version, LatestSchemaVersion()));
  std::vector<std::string> missing;
  for (const Migration& migration : kMigrations) {
    if (migration.version <= version) continue;
    missing.push_back(absl::StrCat(migration.version, " ", migration.name));
  }
  return missing;
}

absl::Status CheckServerVersion(Session& session) {
  ASSIGN_OR_RETURN(const Rows rows, session.RunText("SHOW server_version_num"));
  if (rows.Int(0, 0) >= kOldestServer) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the database's server has version ", rows.Int(0, 0) / 10000,
                   "; PostgreSQL 15 or newer is needed"));
}

}  // namespace skiplane::pg
