#include "server/pg/migrate/migrator.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/pg/migrate/migration.h"
#include "server/pg/migrate/migrations.h"

namespace skiplane::pg {
namespace {

constexpr int64_t kOldestServer = 150000;

}  // namespace

int LatestSchemaVersion() { return kMigrations.back().version; }

absl::StatusOr<int> Migrate(const ConnectOptions& options) {
  return ApplyMigrations(options, kMigrations);
}

absl::Status CheckServerVersion(Session& session) {
  ASSIGN_OR_RETURN(const Rows rows, session.RunText("SHOW server_version_num"));
  if (rows.Int(0, 0) >= kOldestServer) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the database's server has version ", rows.Int(0, 0) / 10000,
                   "; PostgreSQL 15 or newer is needed"));
}

}  // namespace skiplane::pg
