// One connection of libpqxx, set up as every part of this room wants it: it never reconnects by
// itself, writes nothing to standard error, and has the settings of session.h. Not thread-safe.
#pragma once

#include <memory>
#include <pqxx/pqxx>
#include <string>

#include "absl/status/statusor.h"
#include "server/pg/requirements.h"
#include "server/pg/session.h"
#include "server/pg/watchdog.h"

namespace skiplane::pg {

class Link {
 public:
  // DATABASE_UNAVAILABLE, DATABASE_READ_ONLY or DATABASE_PERMISSION_DENIED if it cannot be made;
  // the log says why. What requirements.h says if the server is not one for a broker.
  static absl::StatusOr<std::unique_ptr<Link>> Open(const ConnectOptions& options);

  pqxx::connection& connection() { return connection_; }

  // Whether its schema has the version that the options ask for. Throws; arms nothing.
  absl::Status CheckSchema() { return requirements_.CheckSchema(connection_); }

  // Whether the server still is what Open() required. Throws what libpqxx throws; arms nothing.
  absl::Status CheckRequirements() { return requirements_.Check(connection_); }

  const Backend& backend() const { return requirements_.backend(); }

  // Whether the server, or the network, has closed it. Looks at the socket only: a link for which
  // this is true can be dropped before a statement is sent, so that its outcome is not in doubt.
  bool HungUp() const;

  // Not armed. To be armed while an answer is awaited.
  Watchdog& watchdog() { return watchdog_; }

 private:
  Link(const std::string& conninfo, const ConnectOptions& options);

  pqxx::connection connection_;
  Requirements requirements_;
  Watchdog watchdog_;
  pqxx::quiet_errorhandler quiet_;
};

}  // namespace skiplane::pg
