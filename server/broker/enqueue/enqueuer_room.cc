// Calls to queues with limits of their own.
#include <memory>
#include <utility>

#include "server/base/reason.h"
#include "server/broker/enqueue/enqueuer.h"

namespace skiplane::broker {

void Enqueuer::TakeRoom(std::unique_ptr<PendingEnqueue> pending, QueueRoom::Wants wants,
                        std::vector<std::string> fields) {
  auto taken = std::make_shared<const QueueRoom::Wants>(wants);
  room_.Take(std::move(wants), [this, taken, pending = std::move(pending),
                                fields = std::move(fields)](absl::Status status,
                                                            size_t which) mutable {
    if (!status.ok()) {
      return pending->done(base::BlameField(base::ReasonOf(status), fields[which], status));
    }
    pending->done = [this, taken, done = std::move(pending->done)](
                        absl::StatusOr<std::vector<EnqueueResult>> results) mutable {
      // With an unknown outcome the tasks may be there.
      room_.Ended(*taken, !results.ok() && !absl::IsUnknown(results.status()));
      done(std::move(results));
    };
    CheckSchedules(std::move(pending));
  });
}

}  // namespace skiplane::broker
