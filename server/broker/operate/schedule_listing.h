// Lists of periodic tasks by planned time. Runs on a session of the pool. Thread-safe.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "server/broker/queues/queue_cache.h"
#include "server/pg/session.h"

namespace skiplane::broker {

class ScheduleListing {
 public:
  explicit ScheduleListing(QueueCache& queues) : queues_(queues) {}

  absl::StatusOr<SchedulePage> List(pg::Session& session, const ListSchedulesCall& call);

 private:
  // The lanes that the call asks for; none: of all queues.
  absl::StatusOr<std::vector<int64_t>> LanesOf(pg::Session& session,
                                               const ListSchedulesCall& call);
  // Adds those that fit. False: the next one does not.
  absl::StatusOr<bool> Add(pg::Session& session,
                           const std::vector<model::PlannedPlace>& places, SchedulePage* page);

  QueueCache& queues_;
};

}  // namespace skiplane::broker
