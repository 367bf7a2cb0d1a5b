#include "server/upkeep/counter_folder.h"

#include <utility>
#include <vector>

#include "server/base/status_macros.h"
#include "server/store/counts.h"

namespace skiplane::upkeep {
namespace {

constexpr int kDeltasAtOnce = 5000;
constexpr int kManyDeltas = 64;  // that a lane need not wait with
constexpr int kStepsPerLane = 20;
constexpr absl::Duration kFoldLimit = absl::Milliseconds(200);
constexpr absl::Duration kCleanLimit = absl::Milliseconds(100);

}  // namespace

CounterFolder::CounterFolder(absl::Duration clean_after, absl::Duration all_every)
    : all_every_(all_every), fold_round_(kFoldLimit), cleaner_(clean_after, kCleanLimit) {}

absl::StatusOr<CounterFoldResult> CounterFolder::RunOnce(pg::Session& session) {
  CounterFoldResult result;
  const SteadyTime now = std::chrono::steady_clock::now();
  const bool are_all_due = all_due_ <= now;
  ASSIGN_OR_RETURN(std::vector<int64_t> lanes,
                   store::LanesWithDeltas(session, are_all_due ? 1 : kManyDeltas));
  absl::Status status = fold_round_.Visit(session, std::move(lanes), [&](int64_t lane) {
    return FoldLane(session, lane, &result);
  });
  result.is_complete = fold_round_.is_complete();
  if (are_all_due && result.is_complete) all_due_ = now + absl::ToChronoNanoseconds(all_every_);
  status.Update(cleaner_.Visit(session, [&](int64_t lane) -> absl::StatusOr<bool> {
    RETURN_IF_ERROR(store::CleanCounts(session, lane));
    ++result.lanes_cleaned;
    return true;
  }));
  if (!status.ok()) return status;
  return result;
}

absl::StatusOr<bool> CounterFolder::FoldLane(pg::Session& session, int64_t lane,
                                             CounterFoldResult* result) {
  cleaner_.Note(lane);
  for (int step = 0; step < kStepsPerLane; ++step) {
    ASSIGN_OR_RETURN(const int64_t folded, store::FoldCounts(session, lane, kDeltasAtOnce));
    result->deltas += folded;
    if (folded < kDeltasAtOnce) return true;
    if (fold_round_.is_over()) break;
  }
  return false;
}

}  // namespace skiplane::upkeep
