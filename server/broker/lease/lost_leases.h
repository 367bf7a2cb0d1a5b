// Lease statements whose answer was lost with their connection: asks on another connection, by the
// ledger ids, whether they were committed. Tries for a minute at most; upkeep keeps the ids of
// ledger rows for longer. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/broker/batch/context.h"
#include "server/broker/schedule/statement.h"

namespace skiplane::broker {

class LostLeases {
 public:
  // Gets what was leased, or DATABASE_UNAVAILABLE if that was nothing or could not be learnt.
  // Called once per run, without locks.
  using OnResolved = std::function<void(LeaseRun&, absl::StatusOr<store::Leased>)>;

  // Upkeep keeps the ids for 2 minutes (ledger_fold.sql). Before this the statement may have hung
  // for 16 seconds, and the two of the last try may hang for as long each.
  struct Patience {
    std::chrono::milliseconds pause{200};  // between two tries
    std::chrono::seconds try_for{60};
  };

  LostLeases(Context& context, OnResolved done)
      : LostLeases(context, std::move(done), Patience()) {}
  LostLeases(Context& context, OnResolved done, Patience patience)
      : context_(context), done_(std::move(done)), patience_(patience) {}

  void Resolve(LeaseRun run);

  // The timer has stopped: what waits for it to be tried again has its last try now, and so has
  // what comes later.
  void EndRetries();

 private:
  using Run = std::shared_ptr<LeaseRun>;

  void Try(const Run& run);
  bool PutOff(const Run& run);
  void OnTimer(const Run& run);

  Context& context_;
  const OnResolved done_;
  const Patience patience_;
  base::Mutex mutex_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<Run> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
