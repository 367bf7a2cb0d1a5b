// One connection to PostgreSQL. libpqxx's exceptions end here, as statuses.
//
// Every statement is one of sql::kAll, prepared on first use, and is its own transaction: one round
// trip, no lock survives it. Errors are absl::Status with a reason (base/reason.h), by SQLSTATE:
//   DATABASE_UNAVAILABLE (UNAVAILABLE)    not connected, 57P01-57P03, 57P05, 25P03; 08xxx and 53300
//                                         as an answer, after which the connection works on; 42P01,
//                                         42703, 42883 and 3F000 if the schema is away
//   DATABASE_READ_ONLY (UNAVAILABLE)      25006; no server that takes writes is found
//   DATABASE_PERMISSION_DENIED (FAILED_PRECONDITION)  42501
//   POOLER_NOT_SUPPORTED (FAILED_PRECONDITION)        42P05, 26000; others use the connection, too
//   COMMIT_OUTCOME_UNKNOWN (UNKNOWN)      the connection broke while the statement ran: it may have
//                                         been committed (outcome.h tells it apart). The store
//                                         resolves it or passes it on.
//   TRANSACTION_CONFLICT (ABORTED)        40001, 40P01, 55P03; 0A000 of a statement that has
//                                         worked, which is prepared anew when it runs again
//   STATEMENT_TIMEOUT (DEADLINE_EXCEEDED) 57014
//   DATABASE_FULL (RESOURCE_EXHAUSTED)     53100
//   kAlreadyExists without a reason       23505: a case for the store
//   INTERNAL_ERROR (INTERNAL)             all others, with an id; the log has SQLSTATE and message
// No status ever holds SQL text, DETAIL or parameters. Nothing was changed where the outcome is not
// said to be unknown. After the connection broke, alive() is
// false: drop the session and open another; it never reconnects by itself. A server that has not
// answered when a statement's time limit has passed by tcp_user_timeout counts as lost. Not
// thread-safe.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/pg/params.h"
#include "server/pg/rows.h"
#include "server/sql/query.h"

namespace skiplane::metrics {
class Metrics;
}

namespace skiplane::pg {

class AbandonedBackends;

struct ConnectOptions {
  std::string uri;  // secret: never logged
  std::string application_name{};  // for PostgreSQL; empty: the URI's, or skiplaned
  absl::Duration connect_timeout = absl::Seconds(3);
  absl::Duration tcp_user_timeout = absl::Seconds(5);
  absl::Duration statement_timeout = absl::Seconds(10);
  absl::Duration lock_timeout = absl::Seconds(2);
  // Connect also to a server that may lose what it has committed; logged once.
  bool allow_unsafe_durability = false;
  // The least version that the schema skiplane must have; 0: nobody looks.
  int schema_version = 0;
  // Shared by all connections of the process, so that they do not pile up; may be null.
  std::shared_ptr<AbandonedBackends> abandoned{};
};

class Session {
 public:
  // Connects and sets what every connection of the broker needs: synchronous_commit=on, the time
  // limits, time zone UTC, the planner settings of docs/adr (no hash or merge join, no sequential
  // or bitmap scan, no JIT, generic plans). DATABASE_UNAVAILABLE, DATABASE_READ_ONLY
  // or DATABASE_PERMISSION_DENIED if that fails; what requirements.h says if the server is not one
  // for a broker;
  // SYNCHRONOUS_STANDBY_AWAY while an abandoned backend waits for one.
  // `metrics` may be null; else it outlives the session.
  static absl::StatusOr<std::unique_ptr<Session>> Open(const ConnectOptions& options,
                                                       metrics::Metrics* metrics);
  ~Session();

  absl::StatusOr<Rows> Run(const sql::Query& query, const Params& params);

  // Runs SQL text with the simple protocol, several statements included. For migrations, tests and
  // EXPLAIN; run-time statements go through Run().
  absl::StatusOr<Rows> RunText(absl::string_view text);

  // The same for one command that may take longer than others: this is its statement_timeout.
  absl::Status RunLong(absl::string_view command, absl::Duration statement_timeout);

  // Breaks the connection when this has passed, give or take a second: a statement that is under
  // way then fails. Thread-safe, while the session lives.
  void EndWithin(absl::Duration rest);

  // Asks again, every 10 s at most, whether the server is what Open() required: it may have become
  // a standby, or a pooler may have changed its mode. If not, the session is not alive any more. An
  // error of the question itself counts only if it breaks the connection.
  absl::Status Recheck();

  // The same, at once.
  absl::Status RecheckNow();

  bool alive() const;
  // Whether it is not alive because others use the connection, too: POOLER_NOT_SUPPORTED.
  bool is_shared() const;
  int backend_pid() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace skiplane::pg
