// How a connection of ours is made: libpq's connection string and the settings made on it.
//
// For session.cc and its neighbours, and for who checks settings. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/pg/session.h"

namespace skiplane::pg {

// The caller's URI or keyword string, completed by time limits, keepalives and our name. What the
// caller says himself stands, save the encoding. The result is as secret as the URI.
// DATABASE_UNAVAILABLE if libpq cannot read the URI; the message does not repeat it.
absl::StatusOr<std::string> Conninfo(const ConnectOptions& options);

// Whether the URI says a password. Refused as Conninfo does.
absl::StatusOr<bool> HasPassword(const std::string& uri);

// The same for PostgreSQL's own programs: "NAME=value" for each that the URI says, as libpq reads
// them from the environment. As secret as the URI. Refused as Conninfo does.
absl::StatusOr<std::vector<std::string>> LibpqEnvironment(const std::string& uri);

// The statements that every connection runs first. Not libpq's `options`: poolers refuse those.
std::string SessionSettings(const ConnectOptions& options);

// The one of them that says how long a statement may take.
std::string StatementTimeoutSetting(absl::Duration limit);

}  // namespace skiplane::pg
