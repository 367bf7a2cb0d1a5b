#include "server/broker/await/task_waiters.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/store/enqueue.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::seconds kLookEvery(5);
// By then the other brokers have heard of it.
constexpr std::chrono::milliseconds kFirstLookAfter(200);
constexpr size_t kTasksPerStatement = 5000;

void LookAll(const std::vector<std::shared_ptr<TaskWaiter>>& waiters, bool is_over) {
  for (const std::shared_ptr<TaskWaiter>& waiter : waiters) waiter->Look(is_over);
}

}  // namespace

bool TaskWaiters::Add(const model::TaskId& task, const std::shared_ptr<TaskWaiter>& waiter) {
  bool is_first_new = false;
  {
    base::MutexLock lock(mutex_);
    if (is_ended_) return false;
    Waiters& waiters = waiters_[task];
    const bool is_first = waiters.empty();
    waiters.push_back(waiter);
    context_.metrics.SetAwaitingCalls(++count_);
    if (is_first && announce_(task)) {
      is_first_new = new_.empty();
      new_.push_back(task);
    }
  }
  Arm();
  if (is_first_new) context_.timer.After(kFirstLookAfter, [this] { Submit(true); });
  return true;
}

void TaskWaiters::Remove(const model::TaskId& task, const TaskWaiter* waiter) {
  base::MutexLock lock(mutex_);
  const auto found = waiters_.find(task);
  if (found == waiters_.end()) return;
  Waiters& waiters = found->second;
  const auto is_it = [waiter](const auto& other) { return other.get() == waiter; };
  const auto removed = static_cast<int64_t>(std::erase_if(waiters, is_it));
  if (waiters.empty()) waiters_.erase(found);
  context_.metrics.SetAwaitingCalls(count_ -= removed);
}

void TaskWaiters::Ended(int64_t lane, absl::Span<const int64_t> tasks) {
  if (count_ == 0 || tasks.empty()) return;
  LookAll(Of(lane, tasks), false);
}

void TaskWaiters::End() {
  Waiters all;
  {
    base::MutexLock lock(mutex_);
    is_ended_ = true;
    for (const auto& [task, waiters] : waiters_) {
      all.insert(all.end(), waiters.begin(), waiters.end());
    }
  }
  LookAll(all, true);
}

TaskWaiters::Waiters TaskWaiters::Of(int64_t lane, absl::Span<const int64_t> tasks) {
  Waiters all;
  base::MutexLock lock(mutex_);
  for (const int64_t task : tasks) {
    const auto found = waiters_.find(model::TaskId{lane, task});
    if (found == waiters_.end()) continue;
    all.insert(all.end(), found->second.begin(), found->second.end());
  }
  return all;
}

// While anybody waits.
void TaskWaiters::Arm() {
  {
    base::MutexLock lock(mutex_);
    if (is_armed_ || waiters_.empty()) return;
    is_armed_ = true;
  }
  context_.timer.After(kLookEvery, [this] {
    {
      base::MutexLock lock(mutex_);
      is_armed_ = false;
    }
    Submit(false);
    Arm();
  });
}

TaskWaiters::TasksByLane TaskWaiters::TasksToLookFor(bool only_new) {
  TasksByLane tasks;
  base::MutexLock lock(mutex_);
  if (only_new) {
    for (const model::TaskId& task : std::exchange(new_, {})) tasks[task.lane].push_back(task.id);
    return tasks;
  }
  for (const auto& [task, waiters] : waiters_) tasks[task.lane].push_back(task.id);
  return tasks;
}

void TaskWaiters::Submit(bool only_new) {
  if (count_ == 0 && !only_new) return;
  context_.pool.Submit([this, only_new](absl::StatusOr<pg::Session*> session) {
    for (const auto& [lane, ids] : TasksToLookFor(only_new)) {
      const absl::Span<const int64_t> all = ids;
      for (size_t first = 0; session.ok() && first < all.size(); first += kTasksPerStatement) {
        const absl::Span<const int64_t> part = all.subspan(first, kTasksPerStatement);
        const auto living = store::LivingTasks(**session, lane, part);
        if (!living.ok()) return;  // the next pass finds them
        std::vector<int64_t> ended(part.begin(), part.end());
        std::erase_if(ended, [&](const int64_t task) { return living->contains(task); });
        LookAll(Of(lane, ended), false);
      }
    }
  });
}

}  // namespace skiplane::broker
