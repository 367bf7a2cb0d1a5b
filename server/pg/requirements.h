// What a server must be for a connection of the broker: one that takes writes and keeps what it
// commits, with plain tables, and a connection that no other client uses.
//
// Asked by the simple protocol: it must work through any pooler. Not thread-safe.
#pragma once

#include <pqxx/pqxx>
#include <string>

#include "absl/status/status.h"
#include "server/pg/abandoned_backends.h"
#include "server/pg/session.h"

namespace skiplane::pg {

// One row: which version of the schema the database has; 0 if a migration is under way.
inline constexpr char kSchemaVersion[] =
    "SELECT coalesce(max(version), 0) FROM skiplane.schema_version";

class Requirements {
 public:
  // For one connection.
  explicit Requirements(const ConnectOptions& options);

  // Makes the connection known as this one. To be run once, before Check().
  std::string MarkStatement() const;

  // DATABASE_READ_ONLY, DATABASE_NOT_DURABLE, DATABASE_DISTRIBUTED or POOLER_NOT_SUPPORTED. Throws
  // what libpqxx throws.
  absl::Status Check(pqxx::connection& connection);

  // DATABASE_UNAVAILABLE if the schema is missing or too old. Throws what libpqxx throws.
  absl::Status CheckSchema(pqxx::connection& connection) const;

  // As the first Check() found it.
  const Backend& backend() const { return backend_; }

 private:
  const bool allow_unsafe_durability_;
  const int schema_version_;
  const std::string mark_;
  Backend backend_;
};

// POOLER_NOT_SUPPORTED if `session` and another one to the same server, opened for this, are not
// apart: a pooler gives them the same connection, or now this one and now that. Needs a second
// connection for a moment; OK if there is none to be had.
absl::Status CheckNotShared(const ConnectOptions& options, Session& session);

}  // namespace skiplane::pg
