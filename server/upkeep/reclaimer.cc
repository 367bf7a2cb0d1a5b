#include "server/upkeep/reclaimer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/model/notification.h"
#include "server/store/reclaim.h"

namespace skiplane::upkeep {
namespace {

constexpr absl::Duration kGapWithoutGrace = absl::Seconds(2);
// The lead lasts for 1.2 s.
constexpr absl::Duration kRecoveryLimit = absl::Milliseconds(400);
constexpr int kRounds = 10;
constexpr int64_t kSessionsAtOnce = 1000;  // as many as session_expire and session_gone give

void LogIfAny(const ReclaimResult& result) {
  if (result.spared > 0) {
    base::Log(base::LogLevel::kInfo, "sessions_in_grace",
              {{"sessions", absl::StrCat(result.spared)}});
  }
  if (result.handed_back > 0) {
    base::Log(base::LogLevel::kInfo, "leases_handed_back",
              {{"tasks", absl::StrCat(result.handed_back)}});
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
    : broker_id_(broker_id),
      metrics_(metrics),
      recovery_(kRecoveryLimit, metrics),
      hand_back_(kRecoveryLimit, metrics, store::Action::kRelease) {}

absl::StatusOr<ReclaimResult> Reclaimer::RunOnce(pg::Session& session, bool grace_due) {
  grace_due_ = grace_due_ || grace_due;
  ReclaimResult result;
  if (grace_due_) {
    ASSIGN_OR_RETURN(result.spared, store::GrantGrace(session));
    grace_due_ = false;
    told_.clear();
    counted_.clear();
  }
  RETURN_IF_ERROR(Expire(session, &result));
  absl::Status lanes;
  absl::Status pass = TakeBack(session, &result, &lanes);
  LogIfAny(result);
  // A lane's own trouble must not look as if nobody had looked for lost sessions: a grace for every
  // session in every pass would keep all of them alive. A broken connection is such a gap.
  if (pass.ok() && session.alive()) pass = store::MarkReclaimed(session, broker_id_);
  if (pass.ok() && session.alive()) marked_at_ = std::chrono::steady_clock::now();
  lanes.Update(pass);
  if (!lanes.ok()) return lanes;
  return result;
}

// Also the sessions of idle workers run out, and of calls without a worker: nothing is lost.
absl::Status Reclaimer::Expire(pg::Session& session, ReclaimResult* result) {
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(const int64_t expired, store::ExpireSessions(session));
    if (expired < kSessionsAtOnce) return absl::OkStatus();
  }
  result->is_complete = false;
  return absl::OkStatus();
}

absl::Status Reclaimer::TakeBack(pg::Session& session, ReclaimResult* result,
                                 absl::Status* lanes) {
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(const store::GoneSessions gone,
                     store::FindGoneSessions(session, gone_after_));
    const size_t found = gone.lost.size() + gone.ended.size();
    const bool are_all = static_cast<int64_t>(found) < kSessionsAtOnce;
    gone_after_ = are_all ? pg::Uuid{} : gone.last;
    if (gone.lost.empty() && gone.ended.empty()) return absl::OkStatus();
    TellLost(session, gone.lost);
    ASSIGN_OR_RETURN(const Recovered lost, recovery_.Recover(session, gone.lost));
    ASSIGN_OR_RETURN(const Recovered ended, hand_back_.Recover(session, gone.ended));
    CountLost(lost.sessions, result);
    result->freed += lost.freed;
    result->failed += lost.failed;
    result->handed_back += ended.freed;
    const bool is_complete = lost.is_complete && ended.is_complete;
    if (!is_complete) result->is_complete = false;
    lanes->Update(lost.first_error);
    lanes->Update(ended.first_error);
    ASSIGN_OR_RETURN(const int64_t done, Forget(session, gone, result));
    if (are_all || done == 0 || !is_complete) return absl::OkStatus();
  }
  result->is_complete = false;
  return absl::OkStatus();
}

// A notification may be lost: workers learn it from their next heartbeat, too.
void Reclaimer::TellLost(pg::Session& session, absl::Span<const pg::Uuid> lost) {
  std::vector<pg::Uuid> news;
  for (const pg::Uuid& id : lost) {
    if (told_.insert(id).second) news.push_back(id);
  }
  if (news.empty()) return;
  const std::vector<std::string> texts = model::FormatSessionNotifications("", news);
  const std::vector<absl::string_view> payloads(texts.begin(), texts.end());
  static_cast<void>(store::SendNotifications(session, payloads));
}

// Each once, also if it takes several passes to take back what it held.
void Reclaimer::CountLost(const absl::flat_hash_set<pg::Uuid>& sessions, ReclaimResult* result) {
  int64_t lost = 0;
  for (const pg::Uuid& id : sessions) lost += counted_.insert(id).second ? 1 : 0;
  if (lost > 0) metrics_->SessionsLost(lost);
  result->lost += lost;
}

absl::StatusOr<int64_t> Reclaimer::Forget(pg::Session& session, const store::GoneSessions& gone,
                                          ReclaimResult* result) {
  std::vector<pg::Uuid> all = gone.lost;
  all.insert(all.end(), gone.ended.begin(), gone.ended.end());
  // Asked again, since another broker may hold a ledger row of theirs between two commits.
  ASSIGN_OR_RETURN(const auto named, store::LedgerLanes(session, all));
  absl::flat_hash_set<pg::Uuid> kept;
  for (const auto& [lane, id] : named) kept.insert(id);
  std::vector<pg::Uuid> unnamed;
  std::copy_if(all.begin(), all.end(), std::back_inserter(unnamed),
               [&kept](const pg::Uuid& id) { return !kept.contains(id); });
  if (unnamed.empty()) return 0;
  ASSIGN_OR_RETURN(const int64_t forgotten, store::ForgetSessions(session, unnamed));
  for (const pg::Uuid& id : unnamed) {
    told_.erase(id);
    counted_.erase(id);
  }
  result->forgotten += forgotten;
  return static_cast<int64_t>(unnamed.size());
}

}  // namespace skiplane::upkeep
