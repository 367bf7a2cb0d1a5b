#include "server/broker/observe/sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "server/broker/observe/queue_ranking.h"
#include "server/store/sessions.h"
#include "server/store/space.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::seconds kEvery(5);
constexpr int kCountsRest = 10;  // it rests so many times as long as reading the counts took,
constexpr std::chrono::minutes kCountsRestMax(1);  // but no longer than that
constexpr std::chrono::seconds kAttemptsEvery(15);
constexpr std::chrono::minutes kFailedEvery(1);
constexpr std::chrono::minutes kSizesEvery(1);
constexpr std::chrono::minutes kRankingEvery(10);

}  // namespace

template <typename Read>
void Sampler::Take(Turn& turn, std::chrono::nanoseconds every, Read read) {
  const base::SteadyTime start = std::chrono::steady_clock::now();
  if (start < turn.due) return;
  read();
  const base::SteadyTime end = std::chrono::steady_clock::now();
  turn.due = std::max(start + every, end + ProbeBudget::kShare * (end - start));
}

void Sampler::Start() {
  auto sample = [this](absl::StatusOr<pg::Session*> session) {
    if (session.ok()) Run(**session);
    const std::chrono::nanoseconds rest = kCountsRest * counts_took_;
    context_.timer.After(std::clamp<std::chrono::nanoseconds>(rest, kEvery, kCountsRestMax),
                         [this] { Start(); });
  };
  context_.pool.Submit(std::move(sample), {"sampler"});
}

void Sampler::Run(pg::Session& session) {
  const base::SteadyTime start = std::chrono::steady_clock::now();
  const auto counts = store::ReadCounts(session);
  counts_took_ = std::chrono::steady_clock::now() - start;
  const auto workers = store::CountWorkers(session);
  if (!counts.ok() || !workers.ok()) return;
  context_.metrics.SetWorkers(*workers);
  if (queues_.All().empty() && !queues_.ReloadAll(session).ok()) return;
  ReadAges(session, *counts);
  Take(failed_turn_, kFailedEvery, [&] {
    auto failed = store::CountFailed(session);
    if (failed.ok()) failed_ = *std::move(failed);
  });
  Take(sizes_turn_, kSizesEvery, [&] { ReadSizes(session); });
  NameQueues(session, *counts);
  ShowQueues(*counts);
  for (const auto& [queue, calls] : dispatcher_.WaitingCalls()) {
    context_.metrics.SetWaitingLeases(queue, calls);
  }
}

void Sampler::ShowQueues(const store::Counts& counts) {
  const base::SteadyTime now = std::chrono::steady_clock::now();
  QueueWatch::Looks looks;
  for (const QueuePtr& queue : queues_.All()) {
    const metrics::QueueGauges gauges = GaugesOf(*queue, counts);
    context_.metrics.SetQueue(queue->name, gauges);
    looks[queue->id] = {rates_.Note(queue->id, store::SumOf(counts, *queue), now),
                        gauges.dead_letters, gauges.oldest_ready_age, gauges.oldest_attempt_age};
  }
  rates_.EndLook(now);
  watch_.Set(std::move(looks));
}

void Sampler::ReadAges(pg::Session& session, const store::Counts& counts) {
  std::vector<model::LaneStage> ready;
  int64_t leased = 0;
  for (const auto& [lane_stage, count] : counts) {
    if (count.ready > 0) ready.push_back(lane_stage);
    leased += count.leased;
  }
  std::sort(ready.begin(), ready.end());
  ready_ages_.Run(session, ready);
  if (leased == 0) {
    attempt_ages_.clear();
    return;
  }
  Take(attempts_turn_, kAttemptsEvery, [&] {
    auto ages = store::OldestAttempts(session);
    if (ages.ok()) attempt_ages_ = *std::move(ages);
  });
}

void Sampler::ReadSizes(pg::Session& session) {
  const absl::StatusOr<store::Sizes> sizes = store::ReadSizes(session);
  if (!sizes.ok()) return;
  for (const store::TableSize& size : sizes->tables) {
    context_.metrics.SetTable(size.table, {.row_bytes = size.row_bytes,
                                           .toast_bytes = size.toast_bytes,
                                           .index_bytes = size.index_bytes,
                                           .dead_rows = size.dead_rows});
  }
  context_.metrics.SetDatabaseBytes(sizes->database_bytes);
}

void Sampler::NameQueues(pg::Session& session, const store::Counts& counts) {
  const std::vector<QueuePtr> queues = queues_.All();
  if (queues.size() <= metrics::kQueuesMax) return;
  Take(ranking_turn_, kRankingEvery, [&] {
    const auto active = store::ActiveLanes(session);
    if (active.ok()) context_.metrics.NameQueues(RankQueues(queues, counts, *active));
  });
}

metrics::QueueGauges Sampler::GaugesOf(const model::Queue& queue,
                                       const store::Counts& counts) const {
  metrics::QueueGauges gauges;
  gauges.pause_mode = static_cast<int>(queue.pause);
  for (const int64_t lane : queue.lanes) {
    const auto failed = failed_.find(lane);
    if (failed != failed_.end()) gauges.dead_letters += failed->second;
    bool is_leased = false;
    for (int16_t stage = 0; stage < queue.settings.StageCount(); ++stage) {
      const model::LaneStage lane_stage{lane, stage};
      metrics::TaskGauges tasks;
      if (const auto found = counts.find(lane_stage); found != counts.end()) {
        tasks = {found->second.scheduled, found->second.ready, found->second.leased};
        gauges.oldest_ready_age = std::max(gauges.oldest_ready_age, ready_ages_.AgeOf(lane_stage));
      }
      gauges.scheduled += tasks.scheduled;
      gauges.ready += tasks.ready;
      gauges.leased += tasks.leased;
      is_leased = is_leased || tasks.leased > 0;
      if (queue.settings.stages.empty()) continue;
      metrics::TaskGauges& at_stage = gauges.stages[queue.settings.StageName(stage)];
      at_stage.scheduled += tasks.scheduled;
      at_stage.ready += tasks.ready;
      at_stage.leased += tasks.leased;
    }
    const auto age = attempt_ages_.find(lane);
    if (is_leased && age != attempt_ages_.end()) {
      gauges.oldest_attempt_age = std::max(gauges.oldest_attempt_age, age->second);
    }
  }
  return gauges;
}

}  // namespace skiplane::broker
