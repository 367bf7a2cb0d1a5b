// What only the queue of a new task can refuse.
#pragma once

#include "absl/status/status.h"
#include "server/model/queue.h"
#include "server/model/task.h"

namespace skiplane::broker {

// INVALID_FIELD, naming a field of the task.
absl::Status CheckTask(const model::Queue& queue, const model::NewTask& task);

// QUEUE_PAUSED, naming no field.
absl::Status CheckOpen(const model::Queue& queue);

}  // namespace skiplane::broker
