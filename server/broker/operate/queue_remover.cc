#include "server/broker/operate/queue_remover.h"

#include "server/base/status_macros.h"
#include "server/store/queues.h"

namespace skiplane::broker {
namespace {

constexpr int kPurgedPerStep = 2000;
// The phase in which nothing comes any more; before it all wait for that.
constexpr store::TaskTable kSealed = store::TaskTable::kFailed;

}  // namespace

absl::StatusOr<BulkNext> QueueRemover::Run(pg::Session& session, const model::SessionId& id,
                                           store::BulkCursor& cursor) const {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, cursor.lanes.front()));
  if (queue == nullptr) return store::QueueNotFound(cursor.filter.queue);
  store::BulkProgress progress;
  BulkNext next = BulkNext::kStep;
  if (cursor.table == kSealed) {
    ASSIGN_OR_RETURN(next, Purge(session, id, *queue, cursor, &progress));
  } else {
    ASSIGN_OR_RETURN(const bool is_sealed, Seal(session, id));
    if (is_sealed && !cursor.change.with_tasks) {
      ASSIGN_OR_RETURN(const bool holds_tasks, store::HoldTasks(session, queue->lanes));
      if (holds_tasks) {
        RETURN_IF_ERROR(store::UndoDeletion(session, id));
        RETURN_IF_ERROR(store::StopBulk(session, id).status());
        return BulkNext::kOver;
      }
    }
    if (is_sealed) cursor.table = kSealed;
    if (!is_sealed) next = BulkNext::kWait;
  }
  RETURN_IF_ERROR(store::AdvanceBulk(session, id, cursor, progress));
  return next;
}

// Whether nothing comes any more, neither by a broker nor by SQL.
absl::StatusOr<bool> QueueRemover::Seal(pg::Session& session, const model::SessionId& id) {
  ASSIGN_OR_RETURN(const auto awaited, store::BrokerToConfirm(session, id));
  if (awaited.has_value()) return false;
  return store::SealQueue(session, id);
}

absl::StatusOr<BulkNext> QueueRemover::Purge(pg::Session& session, const model::SessionId& id,
                                             const model::Queue& queue, store::BulkCursor& cursor,
                                             store::BulkProgress* progress) {
  ASSIGN_OR_RETURN(const store::Purged purged,
                   store::PurgeLane(session, cursor.lanes.front(), kPurgedPerStep, cursor.after));
  progress->scanned = purged.rows;
  progress->matched = progress->changed = purged.tasks;
  cursor.after = purged.last_id;
  if (purged.rows > 0) return BulkNext::kStep;
  cursor.after = 0;
  if (cursor.lanes.size() > 1) {
    cursor.lanes.erase(cursor.lanes.begin());
    return BulkNext::kStep;
  }
  ASSIGN_OR_RETURN(const bool is_gone, store::FinishDeletion(session, id));
  if (is_gone) {
    cursor.lanes.clear();
    return BulkNext::kOver;
  }
  cursor.lanes = queue.lanes;  // others had locked something
  return BulkNext::kWait;
}

}  // namespace skiplane::broker
