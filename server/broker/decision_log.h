// What the broker decided, for the log at level debug; sampled (base/sampled_event.h). Queues,
// lanes and counts only: nothing that a caller sent, no ids of workers, requests or leases.
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/broker/lease_run.h"
#include "server/broker/settle_call.h"
#include "server/model/queue.h"
#include "server/store/settle.h"

namespace skiplane::broker {

// `lanes_callers`: who waits for tasks of the lane, those of the run included.
void LogLeased(const model::Queue& queue, const LeaseRun& run, size_t tasks, size_t lanes_callers);

// Callers wait although there may be tasks.
void LogHeldBack(const model::Queue& queue, const model::LaneStage& place, absl::string_view why);

// `counts` by what became of the tasks of those items that were settled.
void LogSettled(const model::Queue& queue, int64_t lane, const std::vector<SettleItem*>& items,
                const std::map<store::Action, int64_t>& counts);

}  // namespace skiplane::broker
