// Brings the schema `skiplane` to the version that this binary knows.
//
// The migrations are those of migrations/, embedded in the binary: files NNNN_name.sql, or folders
// NNNN_name of parts. They go forward only, each in one transaction with its row in
// skiplane.schema_version, all under one lock so that several brokers may start at once.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/pg/session.h"

namespace skiplane::pg {

// The highest version that this binary knows.
int LatestSchemaVersion();

// The version in the database; 0 when there is no schema, or nothing in it. FAILED_PRECONDITION
// when there is one that is not ours.
absl::StatusOr<int> SchemaVersion(Session& session);

// Applies what is missing and returns how many migrations ran. FAILED_PRECONDITION when the
// database's version is newer than this binary knows: nothing is changed then.
absl::StatusOr<int> Migrate(const ConnectOptions& options);

// What Migrate would apply, as "15 error_trend", in order. FAILED_PRECONDITION as Migrate.
absl::StatusOr<std::vector<std::string>> MissingMigrations(const ConnectOptions& options);

// FAILED_PRECONDITION when the server is older than PostgreSQL 15.
absl::Status CheckServerVersion(Session& session);

}  // namespace skiplane::pg
