// Takes back the tasks of sessions that are gone. A session is declared lost or ended first, in a
// commit of its own; then its leases are found through the ledger; then it is forgotten.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/model/queue.h"
#include "server/pg/session.h"
#include "server/store/enqueue.h"
#include "server/store/settle.h"

namespace skiplane::store {

// Declares sessions lost whose end has passed, up to a thousand; returns how many.
absl::StatusOr<int64_t> ExpireSessions(pg::Session& session);

// Gives every living session one full lease duration from now; returns how many.
absl::StatusOr<int64_t> GrantGrace(pg::Session& session);

// Sessions that do not live.
struct GoneSessions {
  std::vector<pg::Uuid> lost;   // or without a row
  std::vector<pg::Uuid> ended;  // by their worker
  pg::Uuid last{};              // of both
};

// Those behind `after` that are to be looked at and forgotten, up to a thousand, by their ids.
absl::StatusOr<GoneSessions> FindGoneSessions(pg::Session& session, const pg::Uuid& after = {});

// Which of them still occur in the ledger, and in which lanes.
absl::StatusOr<std::vector<std::pair<int64_t, pg::Uuid>>> LedgerLanes(
    pg::Session& session, absl::Span<const pg::Uuid> sessions);

// Which of some sessions do not live.
absl::StatusOr<GoneSessions> UnknownSessions(pg::Session& session,
                                             absl::Span<const pg::Uuid> sessions);

struct Reclaimed {
  bool found_rows = false;   // ledger rows were looked at: call again
  pg::Uuid last{};           // of ReclaimHanged: where to go on
  int64_t freed = 0;
  int64_t failed = 0;
  int64_t cancelled = 0;
  std::vector<int64_t> ended;              // tasks that failed or were cancelled
  absl::flat_hash_set<pg::Uuid> sessions;  // that held those
  std::vector<UnleasedTasks> unleased;
  absl::Time now;

  int64_t Attempts() const { return freed + failed + cancelled; }  // that ended
};

// What `sessions` hold in one lane, as far as up to `ledger_rows` tell, and for some 200 ms;
// an error says that nothing was taken back. As kLost: each task is ready again at once,
// its attempt charged, or fails; the sessions must be lost, or without a row. As kRelease: each is
// ready again, uncharged; the sessions must be ended.
absl::StatusOr<Reclaimed> Reclaim(pg::Session& session, int64_t lane,
                                  absl::Span<const pg::Uuid> sessions,
                                  const model::QueueSettings& settings, int ledger_rows,
                                  Action as = Action::kLost);

// For how long the oldest lease of each lane has lived, settled ones perhaps included.
absl::StatusOr<std::vector<std::pair<int64_t, absl::Duration>>> OldestLeases(pg::Session& session);

// The same as Reclaim for attempts that run longer than the settings allow, whoever holds them.
// `after`: the ledger row behind which to look, since those of leases that may run on stay.
absl::StatusOr<Reclaimed> ReclaimHanged(pg::Session& session, int64_t lane,
                                        const model::QueueSettings& settings, int ledger_rows,
                                        const pg::Uuid& after = {});

// Returns how many were forgotten: ended ones stay as long as a broker may lease for them.
absl::StatusOr<int64_t> ForgetSessions(pg::Session& session, absl::Span<const pg::Uuid> sessions);

struct UnusedSessions {
  int64_t looked_at = 0;
  int64_t forgotten = 0;
  pg::Uuid last{};  // that was looked at
};

// Forgets the sessions of calls without a worker that hold nothing any more, of up to `sessions`
// behind `after`, by their ids.
absl::StatusOr<UnusedSessions> ForgetUnusedSessions(pg::Session& session, const pg::Uuid& after,
                                                    int sessions);

// Lanes with ledger rows that are old enough to be folded.
absl::StatusOr<std::vector<int64_t>> LanesToFold(pg::Session& session);

struct Folded {
  bool found_rows = false;          // call again
  std::vector<pg::Uuid> sessions;   // that still hold something
};

absl::StatusOr<Folded> FoldLedger(pg::Session& session, int64_t lane, int ledger_rows);

}  // namespace skiplane::store
