#include "server/upkeep/reclaimer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/store/reclaim.h"

namespace skiplane::upkeep {
namespace {

constexpr absl::Duration kGapWithoutGrace = absl::Seconds(2);
constexpr absl::Duration kRecoveryLimit = absl::Seconds(1);
constexpr int kRounds = 10;
constexpr int64_t kSessionsAtOnce = 1000;  // as many as session_expire and session_lost give

void LogIfAny(const ReclaimResult& result) {
  if (result.spared > 0) {
    base::Log(base::LogLevel::kInfo, "sessions_spared",
              {{"sessions", absl::StrCat(result.spared)}});
  }
  if (result.lost + result.freed + result.failed == 0) return;
  base::Log(base::LogLevel::kInfo, "sessions_lost",
            {{"sessions", absl::StrCat(result.lost)},
             {"tasks_freed", absl::StrCat(result.freed)},
             {"tasks_failed", absl::StrCat(result.failed)}});
}

}  // namespace

bool GraceIsDue(const store::Lead& lead, absl::Duration since_asked, bool was_cut_off) {
  return was_cut_off || !lead.reclaimed_ago || *lead.reclaimed_ago + since_asked > kGapWithoutGrace;
}

Reclaimer::Reclaimer(const pg::Uuid& broker_id, metrics::Metrics* metrics)
    : broker_id_(broker_id), metrics_(metrics), recovery_(kRecoveryLimit, metrics) {}

absl::StatusOr<ReclaimResult> Reclaimer::RunOnce(pg::Session& session, bool grace_due) {
  grace_due_ = grace_due_ || grace_due;
  ReclaimResult result;
  if (grace_due_) {
    ASSIGN_OR_RETURN(result.spared, store::GrantGrace(session));
    grace_due_ = false;
  }
  RETURN_IF_ERROR(Expire(session, &result));
  absl::Status lanes;
  absl::Status pass = TakeBack(session, &result, &lanes);
  LogIfAny(result);
  // A lane's own trouble must not look as if nobody had cared for the dead: a grace for every
  // session in every pass would keep all of them alive. A broken connection is such a gap.
  if (pass.ok() && session.alive()) pass = store::MarkReclaimed(session, broker_id_);
  lanes.Update(pass);
  if (!lanes.ok()) return lanes;
  return result;
}

absl::Status Reclaimer::Expire(pg::Session& session, ReclaimResult* result) {
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(const int64_t lost, store::ExpireSessions(session));
    if (lost > 0) metrics_->SessionsLost(lost);
    result->lost += lost;
    if (lost < kSessionsAtOnce) return absl::OkStatus();
  }
  result->is_complete = false;
  return absl::OkStatus();
}

absl::Status Reclaimer::TakeBack(pg::Session& session, ReclaimResult* result,
                                 absl::Status* lanes) {
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(const std::vector<pg::Uuid> lost, store::LostSessions(session));
    if (lost.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Recovered recovered, recovery_.Recover(session, lost));
    result->freed += recovered.freed;
    result->failed += recovered.failed;
    if (!recovered.is_complete) result->is_complete = false;
    lanes->Update(recovered.first_error);
    ASSIGN_OR_RETURN(const int64_t forgotten, Forget(session, lost));
    result->forgotten += forgotten;
    const bool are_all = static_cast<int64_t>(lost.size()) < kSessionsAtOnce;
    if (are_all || forgotten == 0 || !recovered.is_complete) return absl::OkStatus();
  }
  result->is_complete = false;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Reclaimer::Forget(pg::Session& session,
                                          absl::Span<const pg::Uuid> lost) const {
  // Asked again, since another broker may hold a ledger row of theirs between two commits.
  ASSIGN_OR_RETURN(const auto named, store::LedgerLanes(session, lost));
  absl::flat_hash_set<pg::Uuid> kept;
  for (const auto& [lane, id] : named) kept.insert(id);
  std::vector<pg::Uuid> free;
  std::copy_if(lost.begin(), lost.end(), std::back_inserter(free),
               [&kept](const pg::Uuid& id) { return !kept.contains(id); });
  if (free.empty()) return 0;
  RETURN_IF_ERROR(store::ForgetSessions(session, free));
  return static_cast<int64_t>(free.size());
}

}  // namespace skiplane::upkeep
