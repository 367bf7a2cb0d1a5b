#include "server/app/database/database.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/pg/abandoned_backends.h"
#include "server/pg/migrate/migrator.h"
#include "server/pg/requirements.h"
#include "server/store/peers.h"

namespace skiplane::app {
namespace {

// With the schema that it will have: any other one is refused.
absl::StatusOr<std::string> Describe(pg::Session& session) {
  ASSIGN_OR_RETURN(
      const pg::Rows rows,
      session.RunText("SELECT current_database() || ' at ' || "
                      "coalesce(host(inet_server_addr()) || ':' || inet_server_port(), "
                      "'a local socket') || ', PostgreSQL ' || "
                      "current_setting('server_version')"));
  return absl::StrCat(std::string(rows.Text(0, 0)), ", schema ", pg::LatestSchemaVersion());
}

absl::Status CheckMigrated(pg::Session& session) {
  ASSIGN_OR_RETURN(const int version, pg::SchemaVersion(session));
  if (version == pg::LatestSchemaVersion()) return absl::OkStatus();
  return base::Refuse(
      absl::StatusCode::kFailedPrecondition, "SCHEMA_VERSION",
      absl::StrCat("the database has schema version ", version, " and this broker needs ",
                   pg::LatestSchemaVersion(), ": run `skiplaned migrate`, or a newer broker"));
}

}  // namespace

absl::StatusOr<std::optional<ReservedPlace>> ReserveDatabase(const config::Config& config) {
  std::optional<ReservedPlace> reserved;
  if (config.embedded_dir.empty()) return reserved;
  ASSIGN_OR_RETURN(ReservedPlace place, ReservePlace(config.embedded_dir));
  reserved.emplace(std::move(place));
  return reserved;
}

absl::StatusOr<Database> OpenDatabase(const config::Config& config,
                                      std::optional<ReservedPlace> reserved) {
  Database database;
  database.connect.uri = config.database_uri;
  database.connect.allow_unsafe_durability = config.allow_unsafe_durability;
  database.connect.abandoned = std::make_shared<pg::AbandonedBackends>();
  if (!reserved) return database;
  ASSIGN_OR_RETURN(database.cluster,
                   EmbeddedCluster::Start(*std::move(reserved),
                                          {config.embedded_dir, config.pg_bindir}));
  database.connect.uri = database.cluster->uri();
  base::Log(base::LogLevel::kInfo, "database_started",
            {{"uri", database.cluster->uri()}, {"directory", config.embedded_dir}});
  return database;
}

absl::StatusOr<Database> ReachDatabase(const config::Config& config) {
  std::error_code error;
  const std::string& dir = config.embedded_dir;
  if (!dir.empty() && !std::filesystem::exists(dir + "/pgdata/PG_VERSION", error)) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no embedded database in ", dir, ": is it the right folder?"));
  }
  absl::StatusOr<std::optional<ReservedPlace>> reserved = ReserveDatabase(config);
  if (reserved.ok()) return OpenDatabase(config, *std::move(reserved));
  ASSIGN_OR_RETURN(const EmbeddedPlace place, PreparePlace(config.embedded_dir));
  Database running;
  running.connect.uri = EmbeddedUri(place);
  running.connect.allow_unsafe_durability = config.allow_unsafe_durability;
  if (!pg::Session::Open(running.connect, nullptr).ok()) return reserved.status();
  return running;
}

void LogDatabaseStops(const Database& database) {
  pg::ConnectOptions brief = database.connect;  // it must not hold up the end
  brief.connect_timeout = brief.statement_timeout = brief.tcp_user_timeout = absl::Seconds(1);
  const auto session = pg::Session::Open(brief, nullptr);
  if (!session.ok()) return;  // it has stopped by itself
  const auto others = (*session)->RunText(
      // A backend may outlive its client by a moment: our own are not to be counted.
      "SELECT (SELECT count(*) FROM skiplane.broker WHERE expire_time > now()), count(*) "
      "FROM pg_stat_activity "
      "WHERE backend_type = 'client backend' AND application_name NOT LIKE 'skiplaned%'");
  if (!others.ok() || (others->Int(0, 0) == 0 && others->Int(0, 1) == 0)) return;
  base::Log(base::LogLevel::kWarn, "database_stops",
            {{"other_brokers", std::string(others->Text(0, 0))},
             {"other_clients", std::string(others->Text(0, 1))},
             {"why", "PostgreSQL ends with the broker that was started with --embedded: other "
                     "brokers on it are not ready until it runs again"}});
}

absl::StatusOr<Prepared> PrepareDatabase(const config::Config& config,
                                         const pg::ConnectOptions& connect) {
  ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> session, pg::Session::Open(connect, nullptr));
  RETURN_IF_ERROR(pg::CheckServerVersion(*session));
  RETURN_IF_ERROR(pg::CheckNotShared(connect, *session));
  Prepared prepared;
  ASSIGN_OR_RETURN(prepared.description, Describe(*session));
  const bool serves = config.command == config::Command::kServe;
  if (config.migrate_at_start || !serves) {
    ASSIGN_OR_RETURN(prepared.migrations, pg::Migrate(connect));
  } else {
    RETURN_IF_ERROR(CheckMigrated(*session));
  }
  if (serves) {
    ASSIGN_OR_RETURN(prepared.token_keys, store::OpenTokenKeys(*session));
  }
  return prepared;
}

}  // namespace skiplane::app
