// What settlements add to the metrics.
#include "server/broker/settle/settle_batch.h"

namespace skiplane::broker {

void SettleBatch::CountAll() {
  for (const auto& [outcome, tasks] : counts_) Count(outcome, tasks);
  for (const auto& [stage_and_end, times] : run_times_) {
    metrics_.RunTimes(queue_.name, times);
    minutes_.Ran({lane_, stage_and_end.first}, times, stage_and_end.second);
  }
  counts_.clear();
  run_times_.clear();
}

// A lease number is the time of its lease, or a little more.
void SettleBatch::NoteRunTime(const SettleItem& item, absl::Time settle_time) {
  run_times_[{item.token.stage, settle_time}].push_back(
      settle_time - absl::FromUnixMicros(item.token.lease_number));
}

void SettleBatch::Count(store::Action outcome, int64_t tasks) {
  if (tasks == 0) return;
  switch (outcome) {
    case store::Action::kAck:
      metrics_.AttemptEnded(queue_.name, "succeeded", tasks);
      metrics_.Finished(queue_.name, "succeeded", tasks - counts_[kMovedOn]);
      break;
    case store::Action::kRetry:
      metrics_.AttemptEnded(queue_.name, "retried", tasks);
      break;
    case store::Action::kRelease:
      metrics_.AttemptEnded(queue_.name, "released", tasks);
      break;
    case store::Action::kFail:
      metrics_.AttemptEnded(queue_.name, "failed", tasks);
      metrics_.Finished(queue_.name, "failed", tasks);
      break;
    case store::Action::kCancel:
      metrics_.AttemptEnded(queue_.name, "cancelled", tasks);
      metrics_.Finished(queue_.name, "cancelled", tasks);
      break;
    case store::Action::kLost:
    case store::Action::kHang:
      break;  // upkeep's
  }
}

}  // namespace skiplane::broker
