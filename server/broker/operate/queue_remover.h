// One step of the removal of a queue: waits until every broker knows, looks whether the queue is
// empty if that was asked for, then removes what belongs to it, a part at a time, and at last the
// queue. Thread-safe.
#pragma once

#include "absl/status/statusor.h"
#include "server/broker/queues/queue_cache.h"
#include "server/store/bulk.h"

namespace skiplane::broker {

// What comes after a step of a bulk operation.
enum class BulkNext {
  kStep,  // the next one
  kWait,  // the same once more, after a while: it waits for others
  kOver,
};

class QueueRemover {
 public:
  explicit QueueRemover(QueueCache& queues) : queues_(queues) {}

  // In the transaction that has claimed the operation.
  absl::StatusOr<BulkNext> Run(pg::Session& session, const model::SessionId& id,
                               store::BulkCursor& cursor) const;

 private:
  static absl::StatusOr<bool> Seal(pg::Session& session, const model::SessionId& id);
  static absl::StatusOr<BulkNext> Purge(pg::Session& session, const model::SessionId& id,
                                        const model::Queue& queue, store::BulkCursor& cursor,
                                        store::BulkProgress* progress);

  QueueCache& queues_;
};

}  // namespace skiplane::broker
