// Summaries of queues, made of counts that are read and of what the sampler saw last.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/report_calls.h"
#include "server/broker/observe/queue_watch.h"
#include "server/model/queue.h"
#include "server/model/report.h"
#include "server/pg/session.h"
#include "server/store/counts.h"

namespace skiplane::broker {

// Without the ages of its stages.
QueueWithCounts WithCounts(model::Queue queue, const store::Counts& counts);

// Of these queues: one statement.
absl::StatusOr<std::vector<QueueSummary>> Summarize(pg::Session& session,
                                                    std::vector<model::Queue> queues,
                                                    const QueueWatch& watch);

// Of the queues with names greater than `after`, as many as one list holds.
absl::StatusOr<model::Page<QueueSummary>> SummarizeNext(pg::Session& session,
                                                        const std::string& after,
                                                        const QueueWatch& watch);

}  // namespace skiplane::broker
