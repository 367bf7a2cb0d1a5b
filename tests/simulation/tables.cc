#include "tests/simulation/tables.h"

#include <algorithm>

#include "server/broker/schedule/belief.h"

namespace skiplane::simulation {
namespace {

constexpr int64_t kSlice = 20;  // a probe that sees so many ready ones says: plenty
constexpr size_t kPackTasks = 8;
constexpr size_t kPackTasksLeast = 3;

}  // namespace

int64_t Tables::Insert(LaneStage lane_stage, int16_t priority, absl::Time schedule_time,
                       base::SteadyTime at) {
  Task& task = tasks_[++last_id_];
  task.id = last_id_;
  task.lane_stage = lane_stage;
  task.priority = priority;
  task.schedule_time = schedule_time;
  task.free_since = at;
  by_lane_stage_[lane_stage].push_back(&task);
  return last_id_;
}

void Tables::Pack(const std::vector<int64_t>& ids) {
  for (size_t i = 0; i < ids.size(); ++i) tasks_.at(ids[i]).pack = ids[i / kPackTasks * kPackTasks];
}

void Tables::Delete(int64_t id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  std::erase(by_lane_stage_[found->second.lane_stage], &found->second);
  tasks_.erase(found);
}

void Tables::Free(int64_t id, absl::Time schedule_time, base::SteadyTime at) {
  Task& task = tasks_.at(id);
  task.is_leased = false;
  task.pack = 0;
  task.schedule_time = schedule_time;
  task.request_id.clear();
  task.free_since = at;
}

bool Tables::MaySee(const Task& task, const store::LeaseDemand& demand, absl::Time now) const {
  if (task.is_leased || task.schedule_time > now) return false;
  if (task.pack != 0 && !demand.has_packs) return false;
  const auto bound = std::ranges::find(demand.bounds, task.priority, &store::Bound::priority);
  if (bound == demand.bounds.end()) return false;
  return std::pair(task.schedule_time, task.row()) > std::pair(bound->schedule_time, bound->id);
}

// The first pack of each priority that is not taken to its end, as others may have it locked.
void Tables::HoldBack(const std::vector<const Task*>& seen, const std::set<int64_t>& packs,
                      Taken& taken) {
  std::set<int16_t> told;
  for (const Task* task : seen) {
    if (task->pack == 0 || std::ranges::count(taken.ids, task->id) > 0) continue;
    if (!told.insert(task->priority).second) continue;
    const int64_t id = packs.contains(task->pack) ? task->id : task->pack;
    taken.held_back.push_back({task->priority, task->schedule_time, id});
  }
}

// What a lease leaves of a pack becomes one of its own, or rows.
void Tables::Split(LaneStage lane_stage, int64_t pack) {
  std::vector<Task*> rest;
  size_t taken = 0;
  for (const Task* task : TasksAt(lane_stage)) {
    if (task->pack != pack) continue;
    if (task->is_leased) {
      ++taken;
    } else {
      rest.push_back(&tasks_.at(task->id));
    }
  }
  std::ranges::sort(rest, {}, &Task::id);
  const bool is_pack = std::min(rest.size(), taken) >= kPackTasksLeast;
  for (Task* task : rest) task->pack = is_pack ? rest.front()->id : 0;
}

// Behind the last pack that it may look at it takes no rows either.
Taken Tables::Lock(const store::LeaseDemand& demand, absl::Time now) {
  std::vector<const Task*> seen;
  for (const Task* task : TasksAt({demand.lane, demand.stage})) {
    if (MaySee(*task, demand, now)) seen.push_back(task);
  }
  std::ranges::sort(seen, {}, &Task::Key);
  const size_t packs_most = (demand.slots.size() + kPackTasks - 1) / kPackTasks + 1;
  Taken taken;
  std::set<int64_t> packs;
  for (const Task* task : seen) {
    if (taken.ids.size() == demand.slots.size()) break;
    if (task->is_locked || locked_packs_.contains(task->pack)) continue;
    if (task->pack != 0 && !packs.contains(task->pack)) {
      if (packs.size() == packs_most) break;
      packs.insert(task->pack);
    }
    tasks_.at(task->id).is_locked = true;
    taken.ids.push_back(task->id);
  }
  HoldBack(seen, packs, taken);
  locked_packs_.insert(packs.begin(), packs.end());
  taken.saw_packs = !packs.empty() || !taken.held_back.empty();
  return taken;
}

void Tables::Commit(const std::map<int64_t, std::string>& request_ids, base::SteadyTime at) {
  std::map<int64_t, LaneStage> packs;
  for (const auto& [id, request_id] : request_ids) {
    Task& task = tasks_.at(id);
    if (task.pack != 0) packs[task.pack] = task.lane_stage;
    task.is_locked = false;
    task.is_leased = true;
    task.lease_number = ++last_lease_;
    task.request_id = request_id;
    task.leased_since = at;
  }
  for (const auto& [pack, lane_stage] : packs) {
    locked_packs_.erase(pack);
    Split(lane_stage, pack);
  }
}

void Tables::Rollback(const std::vector<int64_t>& ids, base::SteadyTime at) {
  for (const int64_t id : ids) {
    Task& task = tasks_.at(id);
    locked_packs_.erase(task.pack);
    task.is_locked = false;
    task.free_since = at;
  }
}

// It sees rows that are locked as they were before.
broker::ProbeResult Tables::Probe(LaneStage lane_stage, const std::vector<store::Bound>& from,
                                  absl::Time now) const {
  const auto is_looked_at = [&from](const Task& task) {
    if (from.empty()) return true;
    const auto bound = std::ranges::find(from, task.priority, &store::Bound::priority);
    return bound != from.end() && std::pair(bound->schedule_time, bound->id) <
                                      std::pair(task.schedule_time, task.row());
  };
  std::map<int16_t, std::vector<const Task*>> by_priority;
  for (const Task* task : TasksAt(lane_stage)) {
    if (is_looked_at(*task)) by_priority[task->priority].push_back(task);
  }
  broker::ProbeResult result;
  for (auto& [priority, tasks] : by_priority) {
    result.priorities.push_back(priority);
    std::ranges::sort(tasks, {}, &Task::Key);
    int64_t ready = 0;
    for (const Task* task : tasks) {
      if (task->is_leased) continue;
      if (task->schedule_time > now) {
        result.next_due_in =
            std::min(result.next_due_in.value_or(absl::InfiniteDuration()),
                     task->schedule_time - now);
        continue;
      }
      if (++ready == 1) result.first_ready.push_back({priority, task->schedule_time, task->row()});
      result.has_packs = result.has_packs || task->pack != 0;
    }
    result.ready = ready >= kSlice ? broker::Belief::kPlenty
                                   : std::min(broker::Belief::kPlenty, result.ready + ready);
  }
  if (from.empty()) return result;
  result.priorities.clear();
  result.next_due_in.reset();
  return result;
}

std::vector<int64_t> Tables::FindRequest(int64_t lane, const std::string& request_id) const {
  std::vector<int64_t> ids;
  for (const auto& [id, task] : tasks_) {
    const bool is_its = task.lane_stage.lane == lane && task.request_id == request_id;
    if (task.is_leased && is_its) ids.push_back(id);
  }
  return ids;
}

absl::Span<const Task* const> Tables::TasksAt(LaneStage lane_stage) const {
  const auto found = by_lane_stage_.find(lane_stage);
  if (found == by_lane_stage_.end()) return {};
  return found->second;
}

const Task* Tables::Find(int64_t id) const {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

void Tables::MendDue(absl::Time was, absl::Time now) {
  for (auto& [id, task] : tasks_) {
    if (task.is_leased || task.schedule_time <= now || task.schedule_time > was) continue;
    task.schedule_time = now;
  }
}

}  // namespace skiplane::simulation
