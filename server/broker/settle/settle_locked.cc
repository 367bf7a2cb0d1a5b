// Settlements that were overtaken by another change of their tasks, or whose follow-ups deadlocked:
// what they change is locked first.
#include "server/base/status_macros.h"
#include "server/broker/settle/settle_batch.h"
#include "server/pg/transaction.h"

namespace skiplane::broker {

absl::Status SettleBatch::LockTasks(pg::Session& session, const Items& items) const {
  std::vector<int64_t> ids;
  store::FollowUpKeys follow_ups;
  for (const SettleItem* item : items) {
    ids.push_back(item->token.task.id);
    for (const std::unique_ptr<PendingEnqueue>& follow_up : item->follow_ups) {
      const std::string& key = follow_up->call.tasks.front().key;
      if (key.empty()) continue;
      follow_ups.lanes.push_back(LaneOfKey(*follow_up->queue, key));
      follow_ups.keys.push_back(key);
    }
  }
  return store::LockTasks(session, lane_, ids, follow_ups);
}

// A transaction of its own: nothing is decided before it is committed.
absl::Status SettleBatch::SettleLocked(pg::Session& session, const Items& items) {
  const store::SettleBatch batch = BatchOf(items);
  using Rows = std::vector<store::Settled>;
  const absl::StatusOr<Rows> settled = pg::InTransaction(session, [&]() -> absl::StatusOr<Rows> {
    RETURN_IF_ERROR(LockTasks(session, items));
    return store::Settle(session, batch);
  });
  return TakeSettled(settled, items);
}

}  // namespace skiplane::broker
