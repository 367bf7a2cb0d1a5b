#include "server/upkeep/ledger_folder.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/store/reclaim.h"

namespace skiplane::upkeep {
namespace {

constexpr int kLedgerRowsAtOnce = 20;
constexpr int kStepsPerLane = 100;
constexpr absl::Duration kFoldLimit = absl::Milliseconds(300);
constexpr absl::Duration kRecoveryLimit = absl::Milliseconds(300);

}  // namespace

LedgerFolder::LedgerFolder(metrics::Metrics* metrics)
    : round_(kFoldLimit),
      recovery_(kRecoveryLimit, metrics),
      hand_back_(kRecoveryLimit, metrics, store::Action::kRelease) {}

absl::StatusOr<LedgerFoldResult> LedgerFolder::RunOnce(pg::Session& session) {
  LedgerFoldResult result;
  ASSIGN_OR_RETURN(std::vector<int64_t> lanes, store::LanesToFold(session));
  absl::Status status = round_.Visit(session, std::move(lanes), [&](int64_t lane) {
    ++result.lanes;
    return FoldLane(session, lane);
  });
  result.is_complete = round_.is_complete();
  status.Update(RecoverStrays(session, &result));
  if (!status.ok()) return status;
  return result;
}

absl::StatusOr<bool> LedgerFolder::FoldLane(pg::Session& session, int64_t lane) {
  for (int step = 0; step < kStepsPerLane; ++step) {
    ASSIGN_OR_RETURN(const store::Folded folded,
                     store::FoldLedger(session, lane, kLedgerRowsAtOnce));
    unchecked_.insert(folded.sessions.begin(), folded.sessions.end());
    if (!folded.found_rows) return true;
    if (round_.is_over()) break;
  }
  return false;
}

absl::Status LedgerFolder::RecoverStrays(pg::Session& session, LedgerFoldResult* result) {
  if (unchecked_.empty()) return absl::OkStatus();
  const std::vector<pg::Uuid> holders(unchecked_.begin(), unchecked_.end());
  ASSIGN_OR_RETURN(const store::GoneSessions strays, store::UnknownSessions(session, holders));
  unchecked_.clear();
  absl::StatusOr<Recovered> lost = Recover(session, recovery_, strays.lost, result);
  absl::StatusOr<Recovered> ended = Recover(session, hand_back_, strays.ended, result);
  absl::Status status = lost.ok() ? lost->first_error : lost.status();
  status.Update(ended.ok() ? ended->first_error : ended.status());
  if (ended.ok()) result->handed_back = ended->freed;
  if (lost.ok()) {
    result->freed = lost->freed;
    result->failed = lost->failed;
  }
  if (result->freed + result->failed > 0) {
    base::Log(base::LogLevel::kWarn, "stray_leases_reclaimed",
              {{"sessions", absl::StrCat(strays.lost.size())},
               {"tasks_freed", absl::StrCat(result->freed)},
               {"tasks_failed", absl::StrCat(result->failed)}});
  }
  return status;
}

absl::StatusOr<Recovered> LedgerFolder::Recover(pg::Session& session, Recovery& recovery,
                                                const std::vector<pg::Uuid>& strays,
                                                LedgerFoldResult* result) {
  result->stray_sessions += static_cast<int64_t>(strays.size());
  absl::StatusOr<Recovered> recovered = recovery.Recover(session, strays);
  const bool is_done = recovered.ok() && recovered->is_complete && recovered->first_error.ok();
  if (!is_done) unchecked_.insert(strays.begin(), strays.end());  // until nothing names them
  if (recovered.ok() && !recovered->is_complete) result->is_complete = false;
  return recovered;
}

}  // namespace skiplane::upkeep
