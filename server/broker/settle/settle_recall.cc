// What an earlier run of the same items did, after the answer to its commit was lost.
#include "server/base/status_macros.h"
#include "server/broker/settle/settle_batch.h"

namespace skiplane::broker {

absl::Status SettleBatch::Recall(pg::Session& session, const Items& items) {
  std::vector<store::RecallItem> asked;
  for (const SettleItem* item : items) asked.push_back({item->token, item->tries});
  ASSIGN_OR_RETURN(const std::vector<store::Recalled> found,
                   store::Recall(session, lane_, asked));
  for (const store::Recalled& row : found) {
    SettleItem& item = *items[row.index];
    Apply(item, Restore(item, row));
    recalled_.push_back(&item);
  }
  return absl::OkStatus();
}

// What the lost answer said, from what was sent and what is left of it. Where the schedule time is
// not to be had any more it is in the infinite past or future.
store::Settled SettleBatch::Restore(const SettleItem& item,
                                    const store::Recalled& recalled) const {
  store::Settled settled;
  settled.outcome = recalled.outcome;
  settled.priority = recalled.priority;
  settled.stage = item.token.stage;
  settled.now = recalled.now;
  switch (recalled.transition) {
    case store::Transition::kSucceeded:
    case store::Transition::kFailed:
      break;
    case store::Transition::kCancelled:
      settled.outcome = store::Action::kCancel;
      break;
    case store::Transition::kStartsAfresh:
      settled.stage = 0;
      settled.schedule_time = recalled.settle_time;
      break;
    case store::Transition::kMovesOn:
      settled.stage = NextStage(item).value_or(item.token.stage);
      settled.schedule_time = recalled.settle_time;
      break;
    case store::Transition::kWaitsForPlannedTime:
      settled.stage = 0;
      settled.schedule_time = recalled.schedule_time.value_or(absl::InfiniteFuture());
      break;
    case store::Transition::kIsRetried:
      settled.schedule_time =
          recalled.settle_time + item.retry_delay.value_or(absl::ZeroDuration());
      break;
    case store::Transition::kGoesBack:
      settled.schedule_time = recalled.schedule_time.value_or(absl::InfinitePast());
      break;
  }
  return settled;
}

}  // namespace skiplane::broker
