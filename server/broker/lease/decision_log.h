// What was decided about leases, for the log at level debug; sampled (base/sampled_event.h).
// Queues, lanes and counts only: nothing that a caller sent, no ids of workers, requests or leases.
// Thread-safe.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"
#include "server/broker/schedule/statement.h"
#include "server/model/lane_stage.h"
#include "server/model/queue.h"

namespace skiplane::broker {

// `lanes_callers`: who waits for tasks of the lane, those of the run included.
void LogLeased(const model::Queue& queue, const LeaseRun& run, size_t tasks, size_t lanes_callers);

// Callers wait although there may be tasks.
void LogHeldBack(const model::Queue& queue, const model::LaneStage& lane_stage,
                 absl::string_view why);

}  // namespace skiplane::broker
