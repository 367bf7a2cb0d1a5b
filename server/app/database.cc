#include "server/app/database.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/pg/abandoned_backends.h"
#include "server/pg/migrator.h"
#include "server/pg/requirements.h"

namespace skiplane::app {

absl::StatusOr<Database> OpenDatabase(const config::Config& config) {
  Database database;
  database.connect.uri = config.database_uri;
  database.connect.allow_unsafe_durability = config.allow_unsafe_durability;
  database.connect.abandoned = std::make_shared<pg::AbandonedBackends>();
  if (config.embedded_dir.empty()) return database;
  ASSIGN_OR_RETURN(database.cluster,
                   EmbeddedCluster::Start({config.embedded_dir, config.pg_bindir}));
  database.connect.uri = database.cluster->uri();
  return database;
}

absl::StatusOr<int> PrepareDatabase(const config::Config& config,
                                    const pg::ConnectOptions& connect) {
  ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> session, pg::Session::Open(connect, nullptr));
  RETURN_IF_ERROR(pg::CheckServerVersion(*session));
  RETURN_IF_ERROR(pg::CheckNotShared(connect, *session));
  if (config.migrate_at_start || config.command == config::Command::kMigrate) {
    return pg::Migrate(connect);
  }
  ASSIGN_OR_RETURN(const int version, pg::SchemaVersion(*session));
  if (version == pg::LatestSchemaVersion()) return 0;
  return base::Refuse(
      absl::StatusCode::kFailedPrecondition, "SCHEMA_VERSION",
      absl::StrCat("the database has schema version ", version, " and this broker needs ",
                   pg::LatestSchemaVersion(), ": run `skiplaned migrate`, or a newer broker"));
}

absl::StatusOr<std::string> DescribeDatabase(const pg::ConnectOptions& connect) {
  ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> session, pg::Session::Open(connect, nullptr));
  ASSIGN_OR_RETURN(const int version, pg::SchemaVersion(*session));
  ASSIGN_OR_RETURN(
      const pg::Rows rows,
      session->RunText("SELECT current_database() || ' at ' || "
                       "coalesce(host(inet_server_addr()) || ':' || inet_server_port(), "
                       "'a local socket') || ', PostgreSQL ' || "
                       "current_setting('server_version')"));
  return absl::StrCat(std::string(rows.Text(0, 0)), ", schema ", version);
}

}  // namespace skiplane::app
