// The jobs that lease statements have at the pool, by lane stage: as of a batch, each waits for the
// turns of all parties whose calls came since (batch_jobs.h). Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/broker/batch/batch_jobs.h"
#include "server/broker/schedule/ticket.h"
#include "server/model/lane_stage.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

class LeaseJobs {
 public:
  using Run = std::function<void(model::LaneStage, absl::StatusOr<pg::Session*>)>;

  LeaseJobs(pg::Pool& pool, Run run) : pool_(pool), run_(std::move(run)) {}

  // Runs a statement when the turn of this party has come.
  void Begin(model::LaneStage lane_stage, const std::string& party) {
    {
      base::MutexLock lock(mutex_);
      jobs_[lane_stage].Begin(party);
    }
    Submit(lane_stage, party);
  }

  // Statements for which this call may wait take the turn of its party, too.
  void Join(const Ticket& ticket) {
    if (!pool_.HasBacklog()) return;
    std::vector<model::LaneStage> joined;
    {
      base::MutexLock lock(mutex_);
      if (jobs_.empty()) return;
      for (const Ticket::Wanted& wanted : ticket.wanted) {
        const auto waits = jobs_.find(wanted.lane_stage);
        if (waits == jobs_.end() || !waits->second.Join(ticket.call.party)) continue;
        joined.push_back(wanted.lane_stage);
      }
    }
    for (const model::LaneStage each : joined) Submit(each, ticket.call.party);
  }

 private:
  void Submit(model::LaneStage lane_stage, const std::string& party) {
    auto run = [this, lane_stage, party](absl::StatusOr<pg::Session*> session) {
      if (Take(lane_stage, party)) run_(lane_stage, std::move(session));
    };
    pool_.Submit(std::move(run), {party});
  }

  // Whether it runs a statement: another job may have done so.
  bool Take(model::LaneStage lane_stage, const std::string& party) {
    base::MutexLock lock(mutex_);
    const auto waits = jobs_.find(lane_stage);
    if (waits == jobs_.end()) return false;
    const bool runs = waits->second.Take(party);
    if (waits->second.empty()) jobs_.erase(waits);
    return runs;
  }

  pg::Pool& pool_;
  const Run run_;
  base::Mutex mutex_;
  absl::flat_hash_map<model::LaneStage, BatchJobs> jobs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
