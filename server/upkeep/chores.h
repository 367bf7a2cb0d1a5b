// All chores and their intervals. One pass asks for the lead. If it has it, it reclaims lost
// leases, folds the counters, and does the slower chore that waits longest, if one is due.
//
// At most one slow chore runs per pass, so that lost sessions are looked for often. Each chore's
// time and success go to the metrics; a chore's failures are logged when they begin and when they
// end. Not thread-safe.
#pragma once

#include <chrono>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/metrics/metrics.h"
#include "server/pg/session.h"
#include "server/upkeep/chore_log.h"
#include "server/upkeep/clock_mender.h"
#include "server/upkeep/counter_folder.h"
#include "server/upkeep/error_folder.h"
#include "server/upkeep/hang_finder.h"
#include "server/upkeep/leader.h"
#include "server/upkeep/ledger_folder.h"
#include "server/upkeep/mark_keeper.h"
#include "server/upkeep/partitions.h"
#include "server/upkeep/reclaimer.h"
#include "server/upkeep/retention.h"

namespace skiplane::upkeep {

class Chores {
 public:
  // `metrics` outlives the object.
  // `keeper` is told of chores that may take long, and outlives the object, too; null: nobody is.
  Chores(const pg::Uuid& broker_id, metrics::Metrics* metrics, MarkKeeper* keeper = nullptr);

  // Returns whether tasks of lost sessions are left, so that the next pass should come at once.
  bool RunPass(pg::Session& session);

  // The connection failed: until a pass was good, workers may have been unable to beat.
  void NoteCutOff();

  // Whether the last pass ended without the database's answer: the next one wants a new connection.
  bool is_cut_off() const { return was_cut_off_; }

  // Whether this broker led when it last asked.
  bool is_leader() const { return leader_.is_leader(); }

  void Resign(pg::Session& session);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // A chore with an interval of its own; `run` returns whether it is done until the next one.
  struct SlowChore {
    absl::string_view name;
    absl::Duration interval;
    absl::AnyInvocable<absl::StatusOr<bool>(pg::Session&)> run;
    SteadyTime due;
  };

  // Whether this broker leads; the time and the gap go to `grace_due`.
  bool Lead(pg::Session& session, bool* grace_due);
  void WatchClock(pg::Session& session, const store::Lead& lead);
  void RunOthers(pg::Session& session);
  void RunSlowest(pg::Session& session);

  MarkKeeper* const keeper_;
  ChoreLog log_;
  Leader leader_;
  ClockMender clock_mender_;
  Reclaimer reclaimer_;
  CounterFolder counter_folder_;
  LedgerFolder ledger_folder_;
  Retention retention_;
  Partitions partitions_;
  HangFinder hang_finder_;
  ErrorFolder error_folder_;
  std::vector<SlowChore> slow_;
  bool was_cut_off_ = false;
};

}  // namespace skiplane::upkeep
