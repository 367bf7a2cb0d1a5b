// Queues and their settings. Few and rarely written; brokers cache them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/model/lease.h"
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

// QUEUE_DELETING.
absl::Status QueueDeleting(const std::string& name);

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

// Returns whether the queue exists and is not being deleted.
absl::StatusOr<bool> PauseQueue(pg::Session& session, const std::string& name,
                                model::PauseMode mode, const std::string& reason);

// The removal of a queue, in small steps (server/broker/operate/queue_remover.h). `id`: the bulk
// operation that removes it.

// From the commit on nothing is enqueued or leased by those who know. TRANSACTION_CONFLICT if it is
// not any more as it was read.
absl::Status BeginDeletion(pg::Session& session, const model::Queue& queue,
                           const model::SessionId& id);

// Whether from the end of this transaction on nothing comes by SQL; else ask again.
absl::StatusOr<bool> SealQueue(pg::Session& session, const model::SessionId& id);

// It stays. OK also if it is gone.
absl::Status UndoDeletion(pg::Session& session, const model::SessionId& id);

// The name of a broker that has not confirmed that it lets nothing in; unset: there is none.
absl::StatusOr<std::optional<std::string>> BrokerToConfirm(pg::Session& session,
                                                           const model::SessionId& id);

// Whether they hold tasks, unfinished or failed.
absl::StatusOr<bool> HoldTasks(pg::Session& session, absl::Span<const int64_t> lanes);

struct Purged {
  int64_t tasks = 0;
  int64_t rows = 0;     // these included; 0: the lane is empty, but for what others have locked
  int64_t last_id = 0;  // of the tasks: behind it the next step looks on
};

// Removes about so many rows of a lane: tasks behind `after`, and all else.
absl::StatusOr<Purged> PurgeLane(pg::Session& session, int64_t lane, int rows, int64_t after);

// Removes the queue whose lanes are purged. False: something came or is locked, so purge again.
absl::StatusOr<bool> FinishDeletion(pg::Session& session, const model::SessionId& id);

}  // namespace skiplane::store
