// Keeps the ledger of leases small: writes what old rows still hold as few rows.
//
// It also finds what the reclaimer misses: it reads every lease that lasts, and takes back those
// whose session has no row. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/metrics/metrics.h"
#include "server/pg/session.h"
#include "server/upkeep/recovery.h"
#include "server/upkeep/round.h"

namespace skiplane::upkeep {

struct LedgerFoldResult {
  int64_t lanes = 0;
  int64_t stray_sessions = 0;  // that held something and do not live
  int64_t handed_back = 0;     // of sessions that their workers ended
  int64_t freed = 0;
  int64_t failed = 0;
  bool is_complete = true;
};

class LedgerFolder {
 public:
  // `metrics` outlives the object.
  explicit LedgerFolder(metrics::Metrics* metrics);

  // The first error, when all that it does not concern has been done.
  absl::StatusOr<LedgerFoldResult> RunOnce(pg::Session& session);

 private:
  absl::StatusOr<bool> FoldLane(pg::Session& session, int64_t lane);
  absl::Status RecoverStrays(pg::Session& session, LedgerFoldResult* result);
  // Of one kind of strays; they are asked for again unless it is done.
  absl::StatusOr<Recovered> Recover(pg::Session& session, Recovery& recovery,
                                    const std::vector<pg::Uuid>& strays, LedgerFoldResult* result);

  Round round_;
  Recovery recovery_;
  Recovery hand_back_;
  // Holders whose state was not asked yet; a row that was folded comes up late again.
  absl::flat_hash_set<pg::Uuid> unchecked_;
};

}  // namespace skiplane::upkeep
