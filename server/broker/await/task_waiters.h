// Calls that wait for the ends of tasks, without a thread and without a query of their own.
//
// A commit of this broker, or a notification of another one, says which tasks ended; their waiters
// look at them then. What notifications missed is found by one statement for all waiters of a lane:
// soon after a task's first waiter came, when peers may not have known of it, and every 5 s.
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/broker/await/blocked_looks.h"
#include "server/broker/await/first_looks.h"
#include "server/broker/await/task_waiter.h"
#include "server/broker/batch/context.h"
#include "server/model/task.h"

namespace skiplane::broker {

// When waiters look without having been told.
struct AwaitTimes {
  std::chrono::nanoseconds first = std::chrono::milliseconds(200);  // peers have heard of it then
  std::chrono::nanoseconds every = std::chrono::seconds(5);
};

class TaskWaiters {
 public:
  // Tells other brokers that the end of a task is waited for; returns whether there are any.
  using Announce = std::function<bool(const model::TaskId&)>;

  // `is_full`: whether no look may read a task, as too many answers wait for their readers.
  TaskWaiters(Context& context, AwaitTimes times, Announce announce,
              BlockedLooks::IsFullFor is_full)
      : context_(context),
        every_(times.every),
        announce_(std::move(announce)),
        blocked_(context.timer, std::move(is_full)),
        new_(times.first) {}

  // To be called before the task is read, so that no end falls in between. False: nobody may wait
  // any more.
  bool Add(const model::TaskId& task, const std::shared_ptr<TaskWaiter>& waiter);
  void Remove(const model::TaskId& task, const TaskWaiter* waiter);

  // These tasks of a lane have ended.
  void Ended(int64_t lane, absl::Span<const int64_t> tasks);

  // A waiter found its task unfinished: of what others hear of once, they are told again.
  void Unfinished(const model::TaskId& task);

  // A waiter could not look as answers had no room: it looks again when there is.
  void LookWhenRoom(std::shared_ptr<TaskWaiter> waiter) { blocked_.Add(std::move(waiter)); }
  void OnRoom() { blocked_.OnRoom(); }

  // From now on nobody waits: the time of all is over.
  void End();

  // Those whose notification may have been missed while the listener was away: looks for them.
  void LookForAll();

  // A broker has come that was not there when these tasks were announced.
  void AnnounceAll();

 private:
  using Waiters = std::vector<std::shared_ptr<TaskWaiter>>;
  using TasksByLane = std::map<int64_t, std::vector<int64_t>>;
  struct Awaited {
    Waiters waiters;
    base::SteadyTime announced{};  // none: who was told has said since that it ended
  };

  void LookSoon(const model::TaskId& task);
  void LookForNew();
  void ArmForNew(base::SteadyTime at);
  void Arm();
  void LookRegularly();
  void SubmitLook(TasksByLane tasks, std::function<void()> then);
  void LookFor(pg::Session& session, const TasksByLane& tasks);
  TasksByLane All();
  // The waiters of tasks that were told to have ended. If one has not, it is to be announced again.
  Waiters TakeTold(int64_t lane, absl::Span<const int64_t> tasks);

  Context& context_;
  const std::chrono::nanoseconds every_;
  const Announce announce_;
  BlockedLooks blocked_;
  std::atomic<int64_t> count_ = 0;  // a commit of which nobody waits takes no lock
  base::Mutex mutex_;
  absl::flat_hash_map<model::TaskId, Awaited> awaited_ ABSL_GUARDED_BY(mutex_);
  FirstLooks new_ ABSL_GUARDED_BY(mutex_);
  bool is_armed_ ABSL_GUARDED_BY(mutex_) = false;  // or the regular look is under way
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace skiplane::broker
