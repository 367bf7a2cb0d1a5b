// Declares expired worker sessions lost and takes back their leases. Also takes back, uncharged,
// what sessions still hold that their workers ended.
//
// A session is declared lost in a commit of its own, then its leases are taken back, then its row
// is deleted; never while a ledger row names it. After a gap in which nobody looked for lost
// sessions, nobody knows whether workers could send heartbeats: then every session first gets one
// full lease duration. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/metrics/metrics.h"
#include "server/pg/session.h"
#include "server/store/peers.h"
#include "server/upkeep/recovery.h"

namespace skiplane::upkeep {

struct ReclaimResult {
  int64_t spared = 0;  // sessions that got a grace
  int64_t lost = 0;    // sessions that held a task
  int64_t freed = 0;
  int64_t failed = 0;
  int64_t handed_back = 0;  // tasks of ended sessions
  int64_t forgotten = 0;    // sessions
  bool is_complete = true;
};

// Whether workers may have been unable to send heartbeats since lost sessions were last looked for.
// `since_asked` is the time since `lead` was asked for, `was_cut_off` whether the connection failed
// meanwhile.
bool GraceIsDue(const store::Lead& lead, absl::Duration since_asked, bool was_cut_off);

class Reclaimer {
 public:
  // `metrics` outlives the object.
  Reclaimer(const pg::Uuid& broker_id, metrics::Metrics* metrics);

  // The first error, when all that it does not concern has been done. A grace that could not be
  // given is still due in the next pass.
  absl::StatusOr<ReclaimResult> RunOnce(pg::Session& session, bool grace_due);

  // When this noted last that lost sessions were looked for.
  std::optional<std::chrono::steady_clock::time_point> marked_at() const { return marked_at_; }
  // Somebody else did so for this broker; unset: perhaps.
  void NoteMarked(std::optional<std::chrono::steady_clock::time_point> at) { marked_at_ = at; }

 private:
  absl::Status Expire(pg::Session& session, ReclaimResult* result);
  // Tells the brokers, this process' own as well, each session once.
  void TellLost(pg::Session& session, absl::Span<const pg::Uuid> lost);
  // Returns what keeps the pass from being a good one; errors of lanes go to `lanes`.
  absl::Status TakeBack(pg::Session& session, ReclaimResult* result, absl::Status* lanes);
  // Returns for how many there is nothing left to do now.
  absl::StatusOr<int64_t> Forget(pg::Session& session, const store::GoneSessions& gone,
                                 ReclaimResult* result);
  void CountLost(const absl::flat_hash_set<pg::Uuid>& sessions, ReclaimResult* result);

  pg::Uuid broker_id_;
  metrics::Metrics* metrics_;
  Recovery recovery_;
  Recovery hand_back_;
  absl::flat_hash_set<pg::Uuid> told_;     // as lost, and not yet forgotten
  absl::flat_hash_set<pg::Uuid> counted_;  // in the metrics, and not yet forgotten
  // Behind which the next pass goes on: those that cannot be done with hold up no others.
  pg::Uuid gone_after_{};
  bool grace_due_ = false;
  std::optional<std::chrono::steady_clock::time_point> marked_at_;
};

}  // namespace skiplane::upkeep
