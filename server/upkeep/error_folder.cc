#include "server/upkeep/error_folder.h"

#include "server/base/status_macros.h"
#include "server/store/counts.h"

namespace skiplane::upkeep {
namespace {

constexpr absl::Duration kLimit = absl::Milliseconds(200);
constexpr absl::Duration kCleanLimit = absl::Milliseconds(100);
constexpr int kRowsAtOnce = 2000;
constexpr std::chrono::hours kIdleEvery(1);

}  // namespace

ErrorFolder::ErrorFolder(absl::Duration clean_after)
    : round_(kLimit), cleaner_(clean_after, kCleanLimit) {}

absl::StatusOr<ErrorFoldResult> ErrorFolder::RunOnce(pg::Session& session) {
  ErrorFoldResult result;
  ASSIGN_OR_RETURN(std::vector<int64_t> lanes, store::LanesWithErrorDeltas(session));
  absl::Status status =
      round_.Visit(session, std::move(lanes), [&](int64_t lane) -> absl::StatusOr<bool> {
        cleaner_.Note(lane);
        ASSIGN_OR_RETURN(const int64_t folded, store::FoldErrors(session, lane, kRowsAtOnce));
        result.deltas += folded;
        return folded < kRowsAtOnce;
      });
  result.is_complete = round_.is_complete();
  status.Update(NoteIdleLanes(session));
  status.Update(cleaner_.Visit(session, [&](int64_t lane) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const int64_t removed, store::CleanErrors(session, lane, kRowsAtOnce));
    result.removed += removed;
    return removed < kRowsAtOnce;
  }));
  if (!status.ok()) return status;
  return result;
}

// Lanes in which nothing happens any more, too.
absl::Status ErrorFolder::NoteIdleLanes(pg::Session& session) {
  const auto now = std::chrono::steady_clock::now();
  if (now < idle_due_) return absl::OkStatus();
  idle_due_ = now + kIdleEvery;
  ASSIGN_OR_RETURN(const std::vector<int64_t> lanes, store::LanesWithIdleErrors(session));
  for (const int64_t lane : lanes) cleaner_.Note(lane);
  return absl::OkStatus();
}

}  // namespace skiplane::upkeep
