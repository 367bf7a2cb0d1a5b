#include "server/broker/operate/task_await.h"

#include <chrono>
#include <utility>

#include "server/base/reason.h"
#include "server/base/status_macros.h"

namespace skiplane::broker {
namespace {

absl::Status CallerGone() { return absl::CancelledError("the caller has gone"); }

}  // namespace

TaskAwait::TaskAwait(Context& context, TaskWaiters& waiters, const GetTaskCall& call,
                     Callback<TaskDetails> done)
    : context_(context),
      waiters_(waiters),
      party_(call.party),
      wait_(call.wait),
      until_(std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(wait_)),
      is_over_(wait_ == absl::ZeroDuration()),
      done_(std::move(done)) {}

void TaskAwait::Begin(Read read) {
  read_ = std::move(read);
  ReadTask();
}

absl::StatusOr<model::TaskId> TaskAwait::Find(
    absl::FunctionRef<absl::StatusOr<model::TaskId>()> find) {
  {
    base::MutexLock lock(mutex_);
    if (task_.has_value()) return *task_;
  }
  ASSIGN_OR_RETURN(const model::TaskId task, find());
  const bool waits = wait_ > absl::ZeroDuration() && waiters_.Add(task, shared_from_this());
  base::MutexLock lock(mutex_);
  task_ = task;
  if (!waits) {
    is_over_ = true;
    return task;
  }
  timer_ = context_.timer.At(until_, [self = shared_from_this()] { self->Look(true); });
  return task;
}

void TaskAwait::Look(bool is_over) {
  {
    base::MutexLock lock(mutex_);
    is_over_ = is_over_ || is_over;
    if (state_ == State::kReading && !is_over) looks_again_ = true;
    if (state_ != State::kWaiting) return;
    state_ = State::kReading;
  }
  ReadTask();
}

void TaskAwait::Cancel() {
  {
    base::MutexLock lock(mutex_);
    is_cancelled_ = true;
    if (state_ != State::kWaiting) return;
    state_ = State::kDone;
  }
  Finish(CallerGone());
}

void TaskAwait::ReadTask() {
  read_([self = shared_from_this()](absl::StatusOr<TaskDetails> details) {
    self->Seen(std::move(details));
  });
}

void TaskAwait::Seen(absl::StatusOr<TaskDetails> details) {
  bool again = false;
  bool waits = false;
  const bool lives = details.ok() && !model::HasEnded(details->task.state);
  {
    base::MutexLock lock(mutex_);
    has_seen_ = has_seen_ || lives;
    const bool may_live = !details.ok() && has_seen_ && !absl::IsNotFound(details.status());
    again = std::exchange(looks_again_, false) && (lives || may_live) && !is_cancelled_;
    waits = (lives || may_live) && !again && !is_over_ && !is_cancelled_;
    if (!again) state_ = waits ? State::kWaiting : State::kDone;
    if (is_cancelled_) details = CallerGone();
  }
  if (again) {
    ReadTask();
  } else if (waits && lives) {
    waiters_.Unfinished(details->task.id);
  } else if (waits) {
    const bool lacks_room = base::ReasonOf(details.status()) == "TOO_MANY_CALLS";
    if (lacks_room) waiters_.LookWhenRoom(shared_from_this());
  } else {
    Finish(std::move(details));
  }
}

void TaskAwait::Finish(absl::StatusOr<TaskDetails> details) {
  std::optional<model::TaskId> task;
  base::Timer::Id timer = 0;
  {
    base::MutexLock lock(mutex_);
    task = task_;
    timer = timer_;
  }
  if (timer != 0) context_.timer.Cancel(timer);
  if (task.has_value()) waiters_.Remove(*task, this);
  auto done = std::move(done_);
  done(std::move(details));
}

}  // namespace skiplane::broker
