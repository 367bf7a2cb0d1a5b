#include "server/broker/observe/queue_summaries.h"

#include <cstdint>
#include <utility>

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/store/queues.h"

namespace skiplane::broker {
namespace {

constexpr int kQueuesPerRead = 10'000;

}  // namespace

QueueWithCounts WithCounts(model::Queue queue, const store::Counts& counts) {
  QueueWithCounts answer;
  const bool has_stages = !queue.settings.stages.empty();
  for (int16_t stage = 0; stage < queue.settings.StageCount(); ++stage) {
    StageReport report;
    for (const int64_t lane : queue.lanes) {
      const auto found = counts.find({lane, stage});
      if (found != counts.end()) report.counts += found->second;
    }
    answer.counts += report.counts;
    if (has_stages) answer.stages.push_back(report);
  }
  answer.queue = std::move(queue);
  return answer;
}

absl::StatusOr<std::vector<QueueSummary>> Summarize(pg::Session& session,
                                                    std::vector<model::Queue> queues,
                                                    const QueueWatch& watch) {
  std::vector<int64_t> lanes;
  for (const model::Queue& queue : queues) {
    lanes.insert(lanes.end(), queue.lanes.begin(), queue.lanes.end());
  }
  ASSIGN_OR_RETURN(const store::Counts counts, store::ReadCounts(session, lanes));
  const auto looks = watch.Last();
  std::vector<QueueSummary> summaries;
  summaries.reserve(queues.size());
  for (model::Queue& queue : queues) {
    QueueSummary& summary = summaries.emplace_back();
    const auto look = looks->find(queue.id);
    if (look != looks->end()) summary.look = look->second;
    summary.counted = WithCounts(std::move(queue), counts);
  }
  return summaries;
}

absl::StatusOr<model::Page<QueueSummary>> SummarizeNext(pg::Session& session,
                                                        const std::string& after,
                                                        const QueueWatch& watch) {
  ASSIGN_OR_RETURN(model::Page<model::Queue> queues,
                   store::ListQueuePage(session, after, kQueuesPerRead, model::kListBytesMax));
  model::Page<QueueSummary> page;
  page.has_more = queues.has_more;
  page.bytes = queues.bytes;
  ASSIGN_OR_RETURN(page.items, Summarize(session, std::move(queues.items), watch));
  return page;
}

}  // namespace skiplane::broker
