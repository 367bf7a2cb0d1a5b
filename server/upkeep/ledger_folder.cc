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
    : round_(kFoldLimit), recovery_(kRecoveryLimit, metrics) {}

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
  ASSIGN_OR_RETURN(const std::vector<pg::Uuid> strays, store::UnknownSessions(session, holders));
  unchecked_.clear();
  if (strays.empty()) return absl::OkStatus();
  unchecked_.insert(strays.begin(), strays.end());  // until nothing names them
  ASSIGN_OR_RETURN(const Recovered recovered, recovery_.Recover(session, strays));
  if (recovered.is_complete && recovered.first_error.ok()) unchecked_.clear();
  result->stray_sessions = static_cast<int64_t>(strays.size());
  result->freed = recovered.freed;
  result->failed = recovered.failed;
  if (!recovered.is_complete) result->is_complete = false;
  if (recovered.freed + recovered.failed > 0) {
    base::Log(base::LogLevel::kWarn, "stray_leases_reclaimed",
              {{"sessions", absl::StrCat(strays.size())},
               {"tasks_freed", absl::StrCat(recovered.freed)},
               {"tasks_failed", absl::StrCat(recovered.failed)}});
  }
  return recovered.first_error;
}

}  // namespace skiplane::upkeep
