// The database that the broker is given: reached, checked and brought to the schema it needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/app/cluster/embedded_cluster.h"
#include "server/config/config.h"
#include "server/model/token_key.h"
#include "server/pg/session.h"

namespace skiplane::app {

struct Database {
  std::unique_ptr<EmbeddedCluster> cluster;  // null for an existing server
  pg::ConnectOptions connect;
};

// The directory of the embedded cluster, if there is to be one; see ReservePlace.
absl::StatusOr<std::optional<ReservedPlace>> ReserveDatabase(const config::Config& config);

// Starts the embedded cluster, if there is to be one, in its directory.
absl::StatusOr<Database> OpenDatabase(const config::Config& config,
                                      std::optional<ReservedPlace> reserved);

// For who only looks: if another process runs the embedded cluster, it is used as it runs, and else
// started. FAILED_PRECONDITION if there is none.
absl::StatusOr<Database> ReachDatabase(const config::Config& config);

// To be called before the end of the embedded cluster and after that of the broker on it: logs how
// many other brokers and clients lose it.
void LogDatabaseStops(const Database& database);

struct Prepared {
  int migrations = 0;  // that ran
  // For the log: "NAME at HOST:PORT, PostgreSQL 15.20, schema 12", without the user and the
  // password.
  std::string description;
  std::vector<model::TokenKey> token_keys{};  // of a broker that is to serve
};

// Refuses a server that is too old, is not what connections require (pg/requirements.h), or has a
// schema that this binary does not know; applies migrations if the configuration says so.
absl::StatusOr<Prepared> PrepareDatabase(const config::Config& config,
                                         const pg::ConnectOptions& connect);

}  // namespace skiplane::app
