#include "server/upkeep/chores.h"

#include <algorithm>

#include "server/base/status_macros.h"
#include "server/store/peers.h"
#include "server/store/reclaim.h"

namespace skiplane::upkeep {
namespace {

constexpr absl::Duration kAfterFailure = absl::Seconds(5);
constexpr int kUnusedAtOnce = 20000;
constexpr absl::string_view kClockMender = "clock_mender";

absl::Duration Since(std::chrono::steady_clock::time_point start) {
  return absl::FromChrono(std::chrono::steady_clock::now() - start);
}

// Runs a chore whose result says itself whether it is complete.
template <typename Chore>
auto Completing(Chore& chore) {
  return [&chore](pg::Session& session) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const auto result, chore.RunOnce(session));
    return result.is_complete;
  };
}

// One statement each: complete when they are done.
auto RotateKeys() {
  return [](pg::Session& session) -> absl::StatusOr<bool> {
    RETURN_IF_ERROR(store::RotateTokenKeys(session, store::TokenKeyTimes()));
    return true;
  };
}

auto ForgetUnusedSessions() {
  return [after = pg::Uuid{}](pg::Session& session) mutable -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const store::UnusedSessions unused,
                     store::ForgetUnusedSessions(session, after, kUnusedAtOnce));
    const bool are_all = unused.looked_at < kUnusedAtOnce;
    after = are_all ? pg::Uuid{} : unused.last;
    return are_all;
  };
}

}  // namespace

Chores::Chores(const pg::Uuid& broker_id, metrics::Metrics* metrics, MarkKeeper* keeper)
    : keeper_(keeper),
      log_(metrics),
      leader_(broker_id, metrics),
      clock_mender_(broker_id, metrics),
      reclaimer_(broker_id, metrics),
      ledger_folder_(metrics),
      hang_finder_(metrics) {
  const SteadyTime now = std::chrono::steady_clock::now();
  slow_.push_back({kClockMender, absl::Seconds(10), Completing(clock_mender_), now});
  slow_.push_back({"partitions", absl::Hours(1), Completing(partitions_), now});
  slow_.push_back({"token_keys", absl::Hours(1), RotateKeys(), now});
  slow_.push_back({"hang_finder", absl::Seconds(1), Completing(hang_finder_), now});
  slow_.push_back({"error_folder", absl::Seconds(2), Completing(error_folder_), now});
  slow_.push_back({"ledger_folder", absl::Seconds(5), Completing(ledger_folder_), now});
  slow_.push_back({"unused_sessions", absl::Seconds(30), ForgetUnusedSessions(), now});
  slow_.push_back({"retention", absl::Seconds(30), Completing(retention_), now});
}

bool Chores::RunPass(pg::Session& session) {
  bool grace_due = false;
  if (!Lead(session, &grace_due)) return false;
  bool is_complete = true;
  log_.Run("reclaimer", [&]() -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const ReclaimResult result, reclaimer_.RunOnce(session, grace_due));
    is_complete = result.is_complete;
    return true;
  });
  if (session.alive()) RunOthers(session);
  if (!session.alive()) NoteCutOff();
  return !is_complete;
}

void Chores::RunOthers(pg::Session& session) {
  if (keeper_ != nullptr) keeper_->Begin();
  log_.Run("counter_folder", [&] { return Completing(counter_folder_)(session); });
  if (session.alive()) RunSlowest(session);
  if (keeper_ == nullptr) return;
  const MarkKeeper::Marks marks = keeper_->End();
  if (marks.last.has_value() || marks.is_unsure) reclaimer_.NoteMarked(marks.last);
}

void Chores::NoteCutOff() {
  was_cut_off_ = true;
  leader_.Doubt();
}

void Chores::Resign(pg::Session& session) {
  log_.Run("leader", [&]() -> absl::StatusOr<bool> {
    RETURN_IF_ERROR(leader_.Resign(session));
    return true;
  });
}

bool Chores::Lead(pg::Session& session, bool* grace_due) {
  const SteadyTime asked = std::chrono::steady_clock::now();
  store::Lead lead;
  const bool has_answer = log_.Run("leader", [&]() -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(lead, leader_.RunOnce(session));
    return true;
  });
  if (has_answer) WatchClock(session, lead);
  if (!has_answer || !session.alive()) {
    NoteCutOff();
    return false;
  }
  *grace_due = GraceIsDue(lead, Since(asked), was_cut_off_);
  // From here the reclaimer remembers it; where another broker leads, that one does.
  was_cut_off_ = false;
  return lead.is_leader;
}

// A chore of its own: lost sessions are looked for also if it fails.
void Chores::WatchClock(pg::Session& session, const store::Lead& lead) {
  log_.Run("clock_watch", [&]() -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const bool went_back,
                     clock_mender_.Watch(session, lead, reclaimer_.marked_at()));
    for (SlowChore& chore : slow_) {
      if (went_back && chore.name == kClockMender) chore.due = SteadyTime::min();
    }
    return true;
  });
}

void Chores::RunSlowest(pg::Session& session) {
  const auto chore =
      std::min_element(slow_.begin(), slow_.end(),
                       [](const SlowChore& a, const SlowChore& b) { return a.due < b.due; });
  const SteadyTime now = std::chrono::steady_clock::now();
  if (chore->due > now) return;
  absl::Duration wait = absl::ZeroDuration();
  log_.Run(chore->name, [&]() -> absl::StatusOr<bool> {
    const absl::StatusOr<bool> is_done = chore->run(session);
    if (!is_done.ok()) wait = std::min(chore->interval, kAfterFailure);
    if (is_done.ok() && *is_done) wait = chore->interval;
    return is_done;
  });
  chore->due = now + absl::ToChronoNanoseconds(wait);
}

}  // namespace skiplane::upkeep
