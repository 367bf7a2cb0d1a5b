// One GetTask on its way: reads its task once, or again whenever it may have ended, until it has or
// the call's time is over. Once it waits, a read that fails does not end it: the next one may not.
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "server/base/mutex.h"
#include "server/broker/api/operator.h"
#include "server/broker/await/task_waiters.h"
#include "server/broker/batch/context.h"

namespace skiplane::broker {

class TaskAwait final : public PendingTask,
                        public TaskWaiter,
                        public std::enable_shared_from_this<TaskAwait> {
 public:
  // Reads the task once, on a session of the pool; calls Find() first.
  using Read = std::function<void(Callback<TaskDetails>)>;

  TaskAwait(Context& context, TaskWaiters& waiters, const GetTaskCall& call,
            Callback<TaskDetails> done);

  // Once.
  void Begin(Read read);

  // Which task it is: the one that it was at the first look, which asks `find`. From then on its
  // end is heard of.
  absl::StatusOr<model::TaskId> Find(
      absl::FunctionRef<absl::StatusOr<model::TaskId>()> find);

  void Look(bool is_over) override;
  const std::string& party() const override { return party_; }
  void Cancel() override;

 private:
  enum class State { kReading, kWaiting, kDone };

  void ReadTask();
  void Seen(absl::StatusOr<TaskDetails> details);
  void Finish(absl::StatusOr<TaskDetails> details);

  Context& context_;
  TaskWaiters& waiters_;
  const std::string party_;
  const absl::Duration wait_;
  const base::SteadyTime until_;
  Read read_;
  base::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kReading;
  bool has_seen_ ABSL_GUARDED_BY(mutex_) = false;     // the task, living
  bool looks_again_ ABSL_GUARDED_BY(mutex_) = false;  // it may have ended during the look
  bool is_over_ ABSL_GUARDED_BY(mutex_);
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<model::TaskId> task_ ABSL_GUARDED_BY(mutex_);
  base::Timer::Id timer_ ABSL_GUARDED_BY(mutex_) = 0;
  Callback<TaskDetails> done_;  // of whoever makes the state kDone
};

}  // namespace skiplane::broker
