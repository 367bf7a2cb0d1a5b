// What was decided about attempts that their workers ended, for the log at level debug; sampled
// (base/sampled_event.h). Queues, lanes and counts only: nothing that a caller sent, no ids of
// workers, requests or leases. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server/broker/settle/settle_call.h"
#include "server/model/queue.h"
#include "server/store/settle.h"

namespace skiplane::broker {

// `counts` by what became of the tasks of those items that were settled.
void LogSettled(const model::Queue& queue, int64_t lane, const std::vector<SettleItem*>& items,
                const std::map<store::Action, int64_t>& counts);

}  // namespace skiplane::broker
