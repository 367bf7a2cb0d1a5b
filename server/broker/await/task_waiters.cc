#include "server/broker/await/task_waiters.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/model/limits.h"
#include "server/store/enqueue.h"

namespace skiplane::broker {
namespace {

// Peers remember it for longer than this and a call's wait together: see PeerAwaits.
constexpr absl::Duration kAnnounceAgainAfter = model::kWaitMax;
constexpr size_t kTasksPerStatement = 5000;

void LookAll(const std::vector<std::shared_ptr<TaskWaiter>>& waiters, bool is_over) {
  for (const std::shared_ptr<TaskWaiter>& waiter : waiters) waiter->Look(is_over);
}

}  // namespace

bool TaskWaiters::Add(const model::TaskId& task, const std::shared_ptr<TaskWaiter>& waiter) {
  const base::SteadyTime now = std::chrono::steady_clock::now();
  bool announce = false;
  {
    base::MutexLock lock(mutex_);
    if (is_ended_) return false;
    Awaited& awaited = awaited_[task];
    announce = awaited.waiters.empty() ||
               absl::FromChrono(now - awaited.announced) >= kAnnounceAgainAfter;
    if (announce) awaited.announced = now;
    awaited.waiters.push_back(waiter);
    context_.metrics.SetAwaitingCalls(++count_);
  }
  if (announce && announce_(task)) LookSoon(task);
  Arm();
  return true;
}

void TaskWaiters::Remove(const model::TaskId& task, const TaskWaiter* waiter) {
  base::MutexLock lock(mutex_);
  const auto found = awaited_.find(task);
  if (found == awaited_.end()) return;
  Waiters& waiters = found->second.waiters;
  const auto is_it = [waiter](const auto& other) { return other.get() == waiter; };
  const auto removed = static_cast<int64_t>(std::erase_if(waiters, is_it));
  if (waiters.empty()) awaited_.erase(found);
  context_.metrics.SetAwaitingCalls(count_ -= removed);
}

void TaskWaiters::Ended(int64_t lane, absl::Span<const int64_t> tasks) {
  if (count_ == 0 || tasks.empty()) return;
  LookAll(TakeTold(lane, tasks), false);
}

void TaskWaiters::Unfinished(const model::TaskId& task) {
  {
    base::MutexLock lock(mutex_);
    const auto found = awaited_.find(task);
    if (found == awaited_.end() || found->second.announced != base::SteadyTime()) return;
    found->second.announced = std::chrono::steady_clock::now();
  }
  if (announce_(task)) LookSoon(task);
}

void TaskWaiters::End() {
  Waiters all;
  {
    base::MutexLock lock(mutex_);
    is_ended_ = true;
    for (const auto& [task, awaited] : awaited_) {
      all.insert(all.end(), awaited.waiters.begin(), awaited.waiters.end());
    }
  }
  LookAll(all, true);
}

void TaskWaiters::LookForAll() {
  if (count_ > 0) SubmitLook(All(), [] {});
}

void TaskWaiters::AnnounceAll() {
  for (const auto& [lane, ids] : All()) {
    for (const int64_t id : ids) {
      if (announce_({lane, id})) LookSoon({lane, id});
    }
  }
}

void TaskWaiters::LookSoon(const model::TaskId& task) {
  std::optional<base::SteadyTime> first;
  {
    base::MutexLock lock(mutex_);
    const bool is_first = !new_.Next().has_value();
    new_.Add(task, std::chrono::steady_clock::now());
    if (is_first) first = new_.Next();
  }
  if (first.has_value()) ArmForNew(*first);
}

void TaskWaiters::ArmForNew(base::SteadyTime at) {
  context_.timer.At(at, [this] { LookForNew(); });
}

void TaskWaiters::LookForNew() {
  TasksByLane due;
  std::optional<base::SteadyTime> next;
  {
    base::MutexLock lock(mutex_);
    for (const model::TaskId& task : new_.TakeDue(std::chrono::steady_clock::now())) {
      if (awaited_.contains(task)) due[task.lane].push_back(task.id);
    }
    next = new_.Next();
  }
  if (next.has_value()) ArmForNew(*next);
  if (!due.empty()) SubmitLook(std::move(due), [] {});
}

// While anybody waits, and not before the last of these looks has ended.
void TaskWaiters::Arm() {
  {
    base::MutexLock lock(mutex_);
    if (is_armed_ || awaited_.empty()) return;
    is_armed_ = true;
  }
  context_.timer.After(every_, [this] { LookRegularly(); });
}

void TaskWaiters::LookRegularly() {
  SubmitLook(All(), [this] {
    {
      base::MutexLock lock(mutex_);
      is_armed_ = false;
    }
    Arm();
  });
}

void TaskWaiters::SubmitLook(TasksByLane tasks, std::function<void()> then) {
  auto look = [this, tasks = std::move(tasks),
               then = std::move(then)](absl::StatusOr<pg::Session*> session) {
    if (session.ok()) LookFor(**session, tasks);
    then();
  };
  context_.pool.Submit(std::move(look), {"awaits"});
}

// What a look that fails does not find, the next regular one does.
void TaskWaiters::LookFor(pg::Session& session, const TasksByLane& tasks) {
  for (const auto& [lane, ids] : tasks) {
    const absl::Span<const int64_t> all = ids;
    for (size_t first = 0; first < all.size(); first += kTasksPerStatement) {
      const absl::Span<const int64_t> part = all.subspan(first, kTasksPerStatement);
      const auto living = store::LivingTasks(session, lane, part);
      if (!living.ok()) return;
      std::vector<int64_t> ended(part.begin(), part.end());
      std::erase_if(ended, [&](const int64_t task) { return living->contains(task); });
      LookAll(TakeTold(lane, ended), false);
    }
  }
}

TaskWaiters::TasksByLane TaskWaiters::All() {
  TasksByLane tasks;
  base::MutexLock lock(mutex_);
  for (const auto& [task, awaited] : awaited_) tasks[task.lane].push_back(task.id);
  return tasks;
}

TaskWaiters::Waiters TaskWaiters::TakeTold(int64_t lane, absl::Span<const int64_t> tasks) {
  Waiters all;
  base::MutexLock lock(mutex_);
  for (const int64_t task : tasks) {
    const auto found = awaited_.find(model::TaskId{lane, task});
    if (found == awaited_.end()) continue;
    found->second.announced = {};
    const Waiters& waiters = found->second.waiters;
    all.insert(all.end(), waiters.begin(), waiters.end());
  }
  return all;
}

}  // namespace skiplane::broker
