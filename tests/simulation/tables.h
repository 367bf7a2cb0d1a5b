// A small model of the tables of tasks: what a lease statement, a probe and a commit do to them,
// with row locks and SKIP LOCKED. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/timer.h"
#include "server/broker/schedule/statement.h"
#include "server/model/lane_stage.h"

namespace skiplane::simulation {

using model::LaneStage;

struct Task {
  int64_t id = 0;
  int64_t pack = 0;  // the id of the first task of its pack; 0: it has a row of its own
  LaneStage lane_stage;
  int16_t priority = 0;
  absl::Time schedule_time;
  bool is_leased = false;
  bool is_locked = false;  // by a statement that has not ended
  int64_t lease_number = 0;
  std::string request_id;        // of its lease
  base::SteadyTime free_since;   // neither leased nor locked
  base::SteadyTime leased_since;

  // The order of leases, within a lane stage.
  std::tuple<int16_t, absl::Time, int64_t> Key() const { return {priority, schedule_time, id}; }
  // Of its row.
  int64_t row() const { return pack == 0 ? id : pack; }
};

// What a lease statement takes: ids in the order of leases, and what it says of packs.
struct Taken {
  std::vector<int64_t> ids;
  bool saw_packs = false;
  std::vector<store::Bound> held_back;
};

class Tables {
 public:
  // Committed at once.
  int64_t Insert(LaneStage lane_stage, int16_t priority, absl::Time schedule_time,
                 base::SteadyTime at);
  // Neighbours that were just inserted become packs.
  void Pack(const std::vector<int64_t>& ids);
  void Delete(int64_t id);
  // A lease ends, and the task waits again, in a row of its own.
  void Free(int64_t id, absl::Time schedule_time, base::SteadyTime at);

  // A lease statement takes what it can. Rows, and packs as wholes, are locked until it ends.
  Taken Lock(const store::LeaseDemand& demand, absl::Time now);
  // Locked ones are leased, under the request ids of their takers; or free again.
  void Commit(const std::map<int64_t, std::string>& request_ids, base::SteadyTime at);
  void Rollback(const std::vector<int64_t>& ids, base::SteadyTime at);

  broker::ProbeResult Probe(LaneStage lane_stage, const std::vector<store::Bound>& from,
                            absl::Time now) const;

  // Leased in the lane under this id.
  std::vector<int64_t> FindRequest(int64_t lane, const std::string& request_id) const;

  // Null if it is gone.
  const Task* Find(int64_t id) const;
  bool IsReady(const Task& task, absl::Time now) const {
    return !task.is_leased && !task.is_locked && task.schedule_time <= now &&
           !locked_packs_.contains(task.pack);
  }
  const std::map<int64_t, Task>& tasks() const { return tasks_; }
  absl::Span<const Task* const> TasksAt(LaneStage lane_stage) const;
  // As if what was due at `now` had been made due again, after the clock went back.
  void MendDue(absl::Time was, absl::Time now);

 private:
  std::map<int64_t, Task> tasks_;
  std::map<LaneStage, std::vector<const Task*>> by_lane_stage_;
  bool MaySee(const Task& task, const store::LeaseDemand& demand, absl::Time now) const;
  static void HoldBack(const std::vector<const Task*>& seen, const std::set<int64_t>& packs,
                       Taken& taken);
  void Split(LaneStage lane_stage, int64_t pack);

  std::set<int64_t> locked_packs_;
  int64_t last_id_ = 0;
  int64_t last_lease_ = 0;
};

}  // namespace skiplane::simulation
