#include "server/upkeep/retention.h"

#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/store/retention.h"

namespace skiplane::upkeep {
namespace {

constexpr int kRowsAtOnce = 2000;
constexpr int kStepsPerLane = 10;
// Of answered request ids, which stand in the order of their time: some thousand rows at once, and
// in an hour of passes all of them.
constexpr int64_t kPagesAtOnce = 64;
constexpr int64_t kPassesPerTable = 120;
constexpr absl::Duration kLimit = absl::Milliseconds(300);

void LogRemoved(const RetentionResult& result) {
  static constinit base::SampledEvent event("retention");
  if (!event.Wanted()) return;
  event.Write({{"settled", absl::StrCat(result.settled)},
               {"requests", absl::StrCat(result.requests)},
               {"admin_requests", absl::StrCat(result.admin_requests)},
               {"keys", absl::StrCat(result.keys)}});
}

}  // namespace

Retention::Retention() : round_(kLimit) {}

absl::StatusOr<RetentionResult> Retention::RunOnce(pg::Session& session) {
  RetentionResult result;
  RETURN_IF_ERROR(owners_.Load(session));
  absl::Status status = round_.Visit(session, owners_.Lanes(), [&](int64_t lane) {
    return ExpireLane(session, lane, &result);
  });
  const absl::StatusOr<bool> admin_done = Drain(&result.admin_requests, [&] {
    return store::ExpireAdminRequests(session, model::kRequestKept, kRowsAtOnce);
  });
  status.Update(admin_done.status());
  const absl::StatusOr<bool> answered_done = ExpireAnswered(session, &result.requests);
  status.Update(answered_done.status());
  result.is_complete = round_.is_complete() && admin_done.ok() && *admin_done &&
                       answered_done.ok() && *answered_done;
  if (result.settled + result.requests + result.admin_requests + result.keys > 0) {
    LogRemoved(result);
  }
  if (!status.ok()) return status;
  return result;
}

absl::StatusOr<bool> Retention::ExpireLane(pg::Session& session, int64_t lane,
                                           RetentionResult* result) {
  ASSIGN_OR_RETURN(const bool settled_done, Drain(&result->settled, [&] {
                     return store::ExpireSettled(session, lane, model::kSettledKept, kRowsAtOnce);
                   }));
  ASSIGN_OR_RETURN(const bool requests_done, Drain(&result->requests, [&] {
                     return store::ExpireRequests(session, lane, model::kRequestKept, kRowsAtOnce);
                   }));
  const LaneOwner* const owner = owners_.Find(lane);
  const int days = owner == nullptr ? model::kHistoryDaysDefault : owner->settings.history_days;
  ASSIGN_OR_RETURN(const bool keys_done, Drain(&result->keys, [&] {
                     return store::ExpireKeys(session, lane, days, kRowsAtOnce);
                   }));
  RETURN_IF_ERROR(store::ExpireStatistics(session, lane));
  RETURN_IF_ERROR(store::ExpireMinutes(session, lane));
  return settled_done && requests_done && keys_done;
}

absl::StatusOr<bool> Retention::Drain(int64_t* removed,
                                      absl::FunctionRef<absl::StatusOr<int64_t>()> step) const {
  for (int i = 0; i < kStepsPerLane; ++i) {
    ASSIGN_OR_RETURN(const int64_t rows, step());
    *removed += rows;
    if (rows < kRowsAtOnce) return true;
    if (round_.is_over()) break;
  }
  return false;
}

absl::StatusOr<bool> Retention::ExpireAnswered(pg::Session& session, int64_t* removed) {
  for (int64_t visited = kPagesAtOnce;; visited += kPagesAtOnce) {
    ASSIGN_OR_RETURN(const store::ExpiredRequests expired,
                     store::ExpireAnsweredRequests(session, next_page_, kPagesAtOnce,
                                                   model::kRequestKept));
    *removed += expired.removed;
    next_page_ += kPagesAtOnce;
    if (next_page_ >= expired.pages) next_page_ = 0;
    if (visited >= expired.pages / kPassesPerTable) return true;
    if (round_.is_over()) return false;
  }
}

}  // namespace skiplane::upkeep
