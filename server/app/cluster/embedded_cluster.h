// A private PostgreSQL that starts and ends with the broker: `skiplaned --embedded DIR`.
//
// Everything is in DIR: pgdata (made at the first use), skiplane.conf (our settings, written at
// each start; your own go to the end of pgdata/postgresql.conf), postgres.log, lock. It is durable
// and listens on a unix socket only. A root caller's PostgreSQL runs as `postgres` or `nobody`. It
// stops by itself, in order, when the broker is killed. One broker per DIR at a time.
//
// Start it from the main thread: PostgreSQL stops when the thread ends that started it. Not
// thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/app/cluster/child.h"
#include "server/app/cluster/reserved_place.h"

namespace skiplane::app {

struct EmbeddedOptions {
  std::string dir;
  std::string pg_bindir;  // empty: found, see postgres_binaries.h
  // Crash recovery of a large log may take its time.
  absl::Duration start_timeout = absl::Minutes(5);
};

class EmbeddedCluster {
 public:
  // Returns when connections are accepted. FAILED_PRECONDITION, saying what to do, when DIR is in
  // use or the server's account cannot reach it; else the last lines of PostgreSQL's log.
  static absl::StatusOr<std::unique_ptr<EmbeddedCluster>> Start(const EmbeddedOptions& options);
  // The same in a directory that was reserved before.
  static absl::StatusOr<std::unique_ptr<EmbeddedCluster>> Start(ReservedPlace reserved,
                                                                const EmbeddedOptions& options);
  ~EmbeddedCluster();
  EmbeddedCluster(const EmbeddedCluster&) = delete;
  EmbeddedCluster& operator=(const EmbeddedCluster&) = delete;

  // See EmbeddedUri.
  std::string uri() const;

  // Ends PostgreSQL: in order within `bound`, else so that the next start recovers. Idempotent.
  void Stop(absl::Duration bound = absl::Seconds(6));

  pid_t postmaster() const { return postmaster_.pid(); }

 private:
  EmbeddedCluster(ReservedPlace reserved, Child postmaster);

  ReservedPlace reserved_;
  Child postmaster_;
  bool stopped_ = false;
};

}  // namespace skiplane::app
