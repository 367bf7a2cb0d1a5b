// Queues and their settings. Few and rarely written; brokers cache them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/model/limits.h"
#include "server/model/queue.h"
#include "server/model/report.h"
#include "server/pg/session.h"

namespace skiplane::store {

// Returns whether the queue was made: false if one of this name exists, which is left as it is.
// TOO_MANY_QUEUES if there is none and there are `queues_max` others.
absl::StatusOr<bool> CreateQueue(pg::Session& session, const std::string& name,
                                 const model::QueueSettings& settings, int lanes,
                                 int queues_max = model::kQueuesMax);

// QUEUE_NOT_FOUND.
absl::Status QueueNotFound(const std::string& name);

// QUEUE_NOT_FOUND if there is none of this name.
absl::StatusOr<model::Queue> GetQueue(pg::Session& session, const std::string& name);

// Unset if no queue has this lane.
absl::StatusOr<std::optional<model::Queue>> QueueOfLane(pg::Session& session, int64_t lane);

// Queues with names greater than `after`, in order.
absl::StatusOr<std::vector<model::Queue>> ListQueues(pg::Session& session, const std::string& after,
                                                     int limit);

// The same as a page of what weighs at most `bytes_max`, but always one.
absl::StatusOr<model::Page<model::Queue>> ListQueuePage(pg::Session& session,
                                                        const std::string& after, int limit,
                                                        int64_t bytes_max);

// Returns whether the queue still had `version` and was changed.
absl::StatusOr<bool> UpdateQueue(pg::Session& session, const std::string& name, int64_t version,
                                 const model::QueueSettings& settings);

// Returns whether the queue exists.
absl::StatusOr<bool> PauseQueue(pg::Session& session, const std::string& name,
                                model::PauseMode mode, const std::string& reason);

}  // namespace skiplane::store
