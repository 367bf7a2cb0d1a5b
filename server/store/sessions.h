// Worker sessions: made and moved ahead by leases and heartbeats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/model/lease.h"
#include "server/pg/session.h"

namespace skiplane::store {

struct Touch {
  std::string worker_id;      // empty: a session of one call
  std::string worker_name;
  model::SessionId new_id{};  // taken if the worker has no living session
  absl::Duration duration;
  absl::Duration ahead;       // moved further than `duration` by this
  absl::Duration age{};       // of the call that needs it
  std::string client_version{};  // empty, or 0: the session's own
  int32_t concurrency = 0;
};

struct LivingSession {
  std::string worker_id;
  model::SessionId id{};
  absl::Duration remaining;
  // Of RenewSessions: leases up to this number are to be looked at (FindLeaseStates); those above
  // it are held. 0: none is.
  int64_t recheck_until = 0;
  // Of TouchSessions: made for a call from before an end of its worker, and ended again at once, so
  // that what is leased for it is handed back.
  bool has_ended = false;
  int64_t now = 0;  // of TouchSessions: the database's time, as lease numbers count it
  model::WorkerCommand command = model::WorkerCommand::kRun;
};

// Makes each session live for at least its duration. Each worker occurs once, in order of its id.
absl::StatusOr<std::vector<LivingSession>> TouchSessions(pg::Session& session,
                                                         absl::Span<const Touch> touches);

struct SessionRenewal {
  std::string worker_id;
  absl::Duration duration;  // zero: the session's own
  // {"held": ["<task>", …],
  //  "progress": {"<task>": {"lane": …, "lease": …, "fraction": …, "message": …}}}. What was
  // reported of leases that are over is dropped. Empty: progress is unchanged.
  std::string report_json;
  absl::Duration ahead{};  // how much longer than the duration it is to live
};

// Renews living sessions; lost ones are missing from the answer. Each worker occurs once, in order.
absl::StatusOr<std::vector<LivingSession>> RenewSessions(pg::Session& session,
                                                         absl::Span<const SessionRenewal> renewals);

// The sessions of workers as they are; those that do not live are missing.
absl::StatusOr<std::vector<LivingSession>> FindSessions(pg::Session& session,
                                                        absl::Span<const std::string> workers);

// What sessions hold in a lane, up to ten thousand leases.
absl::StatusOr<std::vector<model::LeaseToken>> FindLeasesOf(pg::Session& session, int64_t lane,
                                                            absl::Span<const pg::Uuid> sessions);

struct SessionEnd {
  std::string worker_id;
  absl::Duration age;  // of the call that ends it
};

// Ends the living sessions of workers, unless a later call made them. What is leased for them from
// then on, by calls from before, is taken back by upkeep. Returns all ended sessions of these
// workers that are not forgotten, so that a repeat goes on. Each worker occurs once, in order.
absl::StatusOr<std::vector<pg::Uuid>> EndSessions(pg::Session& session,
                                                  absl::Span<const SessionEnd> ends);

// What the tasks say of leases whose sessions live. One state per token, in order.
absl::StatusOr<std::vector<model::LeaseState>> FindLeaseStates(
    pg::Session& session, absl::Span<const model::LeaseToken> tokens);

// Has the heartbeats of these leases' workers look at them, as they are taken back: in the
// transaction that does so, or before it.
absl::Status TellSessions(pg::Session& session, absl::Span<const model::LeaseToken> taken);
// The same, and all brokers look at once for those who have streams.
absl::Status TellSessionsAtOnce(pg::Session& session, absl::Span<const model::LeaseToken> taken);

// How long a session lives if nothing renews it; zero when it is lost.
absl::StatusOr<absl::Duration> SessionRemaining(pg::Session& session, const model::SessionId& id);

// Asks a living worker for something; its next renewal tells it. False: none has this handle, or
// only the session of one call.
absl::StatusOr<bool> CommandWorker(pg::Session& session, const std::string& handle,
                                   model::WorkerCommand command);

// How many workers live.
absl::StatusOr<int64_t> CountWorkers(pg::Session& session);

}  // namespace skiplane::store
