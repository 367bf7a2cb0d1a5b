// Filters of tasks between the wire and the broker. Pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "server/model/task_filter.h"
#include "skiplane/v1/bulk.pb.h"

namespace skiplane::rpc {

// SCHEDULED, READY and LEASED.
model::TaskStates LivingStates();

// Without a default for the states. Takes the texts. `has_other_queues`: its queue may be unset.
absl::StatusOr<model::TaskFilter> ReadFilter(v1::TaskFilter* wire,
                                             bool has_other_queues = false);

void WriteFilter(const model::TaskFilter& filter, v1::TaskFilter* wire);

}  // namespace skiplane::rpc
