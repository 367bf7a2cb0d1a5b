// What only the queue of a new task can refuse.
#pragma once

#include "absl/status/status.h"
#include "server/model/queue.h"
#include "server/model/task.h"

namespace skiplane::broker {

// INVALID_FIELD, naming a field of the task.
absl::Status CheckTask(const model::Queue& queue, const model::NewTask& task);

// QUEUE_PAUSED or QUEUE_DELETING, naming no field.
absl::Status CheckOpen(const model::Queue& queue);

// The same refusal, naming `field`.
absl::Status BlameClosed(absl::string_view field, const absl::Status& closed);

}  // namespace skiplane::broker
