#include "server/broker/lease/lost_leases.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

// What the statement leased, after making sure that it was committed or never can be.
absl::StatusOr<store::Leased> FindLost(pg::Session& session, LeaseRun& run) {
  const std::vector<store::LeaseCaller>& callers = run.demand.callers;
  std::vector<pg::Uuid> ledgers;  // each once: a row that callers share is found for each mention
  for (const store::LeaseCaller& caller : callers) ledgers.push_back(caller.ledger);
  std::ranges::sort(ledgers);
  ledgers.erase(std::ranges::unique(ledgers).begin(), ledgers.end());
  RETURN_IF_ERROR(store::CloseLedger(session, run.lane_stage.lane, ledgers));
  store::Leased leased;
  ASSIGN_OR_RETURN(leased.rows, store::FindLeases(session, run.lane_stage.lane, {}, ledgers));
  LeaveBounds(run.demand, leased);
  // Calls of one worker may share a session and a row.
  std::vector<int> given(callers.size());
  std::vector<int> dealt(callers.size());
  for (const int32_t caller : run.demand.slots) {
    if (caller > 0) ++dealt[static_cast<size_t>(caller) - 1];
  }
  leased.now = absl::InfiniteFuture();
  for (store::LeasedRow& row : leased.rows) {
    // A lease number is the time of its lease, or one more than the task's last if that is greater.
    leased.now = std::min(leased.now, absl::FromUnixMicros(row.task.token.lease_number));
    for (size_t i = 0; i < callers.size(); ++i) {
      const bool is_same_session = callers[i].session == row.task.token.session;
      if (!is_same_session || callers[i].ledger != row.ledger) continue;
      row.caller = static_cast<int>(i);
      if (given[i] < dealt[i]) break;
    }
    ++given[static_cast<size_t>(row.caller)];
  }
  // While it was looked for, sessions may have been given a grace.
  absl::flat_hash_set<int> found;
  for (const store::LeasedRow& row : leased.rows) {
    if (!found.insert(row.caller).second) continue;
    const auto caller = static_cast<size_t>(row.caller);
    ASSIGN_OR_RETURN(const absl::Duration remaining,
                     store::SessionRemaining(session, callers[caller].session));
    run.lives_until[caller] =
        std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(remaining);
  }
  return leased;
}

}  // namespace

void LostLeases::Resolve(LeaseRun run) {
  run.resolve_until = std::chrono::steady_clock::now() + patience_.try_for;
  Try(std::make_shared<LeaseRun>(std::move(run)));
}

void LostLeases::Try(const Run& run) {
  auto find = [this, run](absl::StatusOr<pg::Session*> session) {
    absl::StatusOr<store::Leased> found =
        session.ok() ? FindLost(**session, *run) : session.status();
    if (!found.ok() && PutOff(run)) return;
    // Without rows it may never have been run: that says nothing of the lane.
    if (!found.ok() || found->rows.empty()) found = RepeatLater();
    done_(*run, std::move(found));
  };
  context_.pool.Submit(std::move(find), {"lost leases"});
}

// Returns whether there will be another try.
bool LostLeases::PutOff(const Run& run) {
  const bool is_over = std::chrono::steady_clock::now() >= run->resolve_until;
  base::MutexLock lock(mutex_);
  if (is_over || is_stopping_) return false;
  waiting_.insert(run);
  context_.timer.After(patience_.pause, [this, run] { OnTimer(run); });
  return true;
}

void LostLeases::OnTimer(const Run& run) {
  {
    base::MutexLock lock(mutex_);
    if (waiting_.erase(run) == 0) return;
  }
  Try(run);
}

void LostLeases::EndRetries() {
  absl::flat_hash_set<Run> open;
  {
    base::MutexLock lock(mutex_);
    is_stopping_ = true;
    open.swap(waiting_);
  }
  for (const Run& run : open) Try(run);
}

}  // namespace skiplane::broker
