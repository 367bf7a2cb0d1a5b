#include "server/pg/migrator.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/pg/migration.h"
#include "server/pg/migrations.h"

namespace skiplane::pg {
namespace {

constexpr int64_t kOldestServer = 150000;

}  // namespace

int LatestSchemaVersion() { return kMigrations.back().version; }

absl::StatusOr<int> Migrate(const ConnectOptions& options) {
  return ApplyMigrations(options, kMigrations);
}

absl::Status CheckNotDistributed(Session& session) {
  constexpr char kHasCitus[] = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL";
  ASSIGN_OR_RETURN(const Rows citus, session.RunText(kHasCitus));
  if (!citus.Bool(0, 0)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Rows rows,
                   session.RunText("SELECT count(*) FROM pg_catalog.pg_dist_partition p "
                                   "JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid "
                                   "WHERE c.relnamespace = to_regnamespace('skiplane')"));
  if (rows.Int(0, 0) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("Citus has distributed tables of the schema skiplane (", rows.Int(0, 0),
                   "), which this version does not know: use a database whose tables are plain"));
}

absl::Status CheckDurability(Session& session) {
  for (const char* const setting : {"fsync", "full_page_writes", "synchronous_commit"}) {
    ASSIGN_OR_RETURN(const Rows rows, session.RunText(absl::StrCat("SHOW ", setting)));
    if (rows.Text(0, 0) == "on") continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the database has ", setting, "=", std::string(rows.Text(0, 0)),
                     " and may lose what it has committed; set it to on"));
  }
  return absl::OkStatus();
}

absl::Status CheckServerVersion(Session& session) {
  ASSIGN_OR_RETURN(const Rows rows, session.RunText("SHOW server_version_num"));
  if (rows.Int(0, 0) >= kOldestServer) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the database's server has version ", rows.Int(0, 0) / 10000,
                   "; PostgreSQL 15 or newer is needed"));
}

}  // namespace skiplane::pg
