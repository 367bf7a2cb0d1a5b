// In which order queues get metrics of their own: first those with tasks, or whose attempts
// ended in the last week, then the others; within each, those that finished the most first. It is
// read from the database alone, so that all brokers agree, after a restart too.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "server/broker/queues/queue_cache.h"
#include "server/store/counts.h"

namespace skiplane::broker {

// The names of `queues`, best first.
std::vector<std::string> RankQueues(const std::vector<QueuePtr>& queues,
                                    const store::Counts& counts,
                                    const absl::flat_hash_set<int64_t>& active_lanes);

}  // namespace skiplane::broker
