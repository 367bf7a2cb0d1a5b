#include "server/broker/enqueue/queue_room.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/rare_event.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/store/counts.h"

namespace skiplane::broker {
namespace {

using std::chrono::steady_clock;

constexpr absl::Duration kShownDelay = absl::Milliseconds(100);  // to which it is rounded

// One of the limits of what a queue holds.
struct Bound {
  absl::string_view setting;
  absl::string_view unit;
  std::optional<int64_t> max;
};

void LogLimited(const model::Queue& queue, absl::string_view limit) {
  static constinit base::RareEvent limited("queue_limited");
  if (!limited.Wanted()) return;
  limited.Write(base::LogLevel::kWarn, {{"queue", queue.name}, {"limit", std::string(limit)}});
}

absl::Status Full(const model::Queue& queue, const Bound& bound, int64_t has, int64_t brings) {
  LogLimited(queue, bound.setting);
  return base::Refuse(absl::StatusCode::kResourceExhausted, "QUEUE_FULL",
                      absl::StrCat("\"", queue.name, "\" has ", has, " ", bound.unit,
                                   " that are not finished, and the call brings ", brings,
                                   "; at most ", *bound.max, " (", bound.setting,
                                   "). This call brought nothing: retry when some are done"));
}

absl::Status TooFast(const model::Queue& queue, double per_second, absl::Duration delay) {
  LogLimited(queue, "max_enqueue_rate");
  return base::WithRetryDelay(
      base::Refuse(absl::StatusCode::kResourceExhausted, "ENQUEUE_RATE_EXCEEDED",
                   absl::StrCat("\"", queue.name, "\" takes ", per_second,
                                " tasks a second (max_enqueue_rate). This call brought nothing: "
                                "retry in ",
                                absl::FormatDuration(absl::Ceil(delay, kShownDelay)))),
      delay);
}

absl::Status TooLarge(const model::Queue& queue, const Bound& bound, int64_t brings) {
  return base::Refuse(absl::StatusCode::kInvalidArgument, "REQUEST_TOO_LARGE",
                      absl::StrCat("\"", queue.name, "\" takes ", *bound.max, " ", bound.unit,
                                   " at most (", bound.setting, "), and the call brings ", brings,
                                   ". This call brought nothing: send less in one call"));
}

Bound DepthOf(const model::Queue& queue) {
  return {"max_depth", "tasks", queue.settings.limits.max_depth};
}

Bound BytesOf(const model::Queue& queue) {
  return {"max_bytes", "bytes of tasks", queue.settings.limits.max_bytes};
}

// A second's tasks at once.
base::TokenBucket::Rate RateOf(double per_second) {
  return {per_second, std::max(per_second, 1.0)};
}

}  // namespace

// As store::MeasureBytes() has it, but for how headers are stored.
void QueueRoom::Want::Add(const model::NewTask& task) {
  ++tasks;
  bytes += static_cast<int64_t>(task.payload.size());
  for (const auto& [name, value] : task.headers) {
    bytes += static_cast<int64_t>(name.size() + value.size());
  }
}

QueueRoom::Want QueueRoom::Want::Of(QueuePtr queue, const std::vector<model::NewTask>& tasks) {
  Want want{.queue = std::move(queue)};
  for (const model::NewTask& task : tasks) want.Add(task);
  return want;
}

absl::Status QueueRoom::Want::CheckFits() const {
  const Bound depth = DepthOf(*queue);
  if (depth.max && tasks > *depth.max) return TooLarge(*queue, depth, tasks);
  const Bound of_bytes = BytesOf(*queue);
  if (of_bytes.max && bytes > *of_bytes.max) return TooLarge(*queue, of_bytes, bytes);
  return absl::OkStatus();
}

void QueueRoom::Take(Wants wants, Answer answer) {
  Outcome outcome;
  QueuePtr to_count;
  {
    base::MutexLock lock(mutex_);
    outcome = TakeAll(wants);
    if (outcome.needs_count) {
      const QueuePtr queue = wants[outcome.which].queue;
      if (!std::exchange(states_[queue->id].is_counting, true)) to_count = queue;
      Wait(std::move(wants), std::move(answer), outcome.which);
    }
  }
  if (to_count != nullptr) Count(to_count);
  if (!outcome.needs_count) answer(std::move(outcome.status), outcome.which);
}

void QueueRoom::Wait(Wants wants, Answer answer, size_t which) {
  State& state = states_[wants[which].queue->id];
  state.waiting.emplace_back([this, wants = std::move(wants), answer = std::move(answer),
                              which](absl::Status status) mutable {
    if (!status.ok()) return answer(std::move(status), which);
    Take(std::move(wants), std::move(answer));
  });
}

QueueRoom::Outcome QueueRoom::TakeAll(const Wants& wants) {
  const base::SteadyTime now = steady_clock::now();
  for (size_t i = 0; i < wants.size(); ++i) {
    Outcome outcome = TakeOne(wants[i], now);
    if (outcome.status.ok() && !outcome.needs_count) continue;
    for (size_t taken = 0; taken < i; ++taken) GiveBack(wants[taken]);
    outcome.which = i;
    return outcome;
  }
  return {};
}

void QueueRoom::GiveBack(const Want& want) {
  State& state = states_[want.queue->id];
  state.tasks.GiveBack(want.tasks);
  state.bytes.GiveBack(want.bytes);
  if (state.rate) state.rate->GiveBack(static_cast<double>(want.tasks));
}

QueueRoom::Outcome QueueRoom::TakeOne(const Want& want, base::SteadyTime now) {
  State& state = states_[want.queue->id];
  const auto check = [&](const FillLevel& level, const Bound& bound, int64_t brings) -> Outcome {
    if (!bound.max) return {};
    if (level.IsOld(now)) return {.status = {}, .needs_count = true};
    if (level.Now() + brings <= *bound.max) return {};
    if (level.MayCount(now)) return {.status = {}, .needs_count = true};
    return {.status = Full(*want.queue, bound, level.Now(), brings)};
  };
  Outcome outcome = check(state.tasks, DepthOf(*want.queue), want.tasks);
  if (!outcome.status.ok() || outcome.needs_count) return outcome;
  outcome = check(state.bytes, BytesOf(*want.queue), want.bytes);
  if (!outcome.status.ok() || outcome.needs_count) return outcome;

  const std::optional<double> per_second = want.queue->settings.limits.max_enqueue_rate;
  if (per_second) {
    if (!state.rate) state.rate.emplace(RateOf(*per_second), now);
    if (!(state.rate->rate() == RateOf(*per_second))) state.rate->SetRate(RateOf(*per_second), now);
    const absl::Duration delay = state.rate->Take(static_cast<double>(want.tasks), now);
    if (delay > absl::ZeroDuration()) return {.status = TooFast(*want.queue, *per_second, delay)};
  } else {
    state.rate.reset();
  }
  state.tasks.Take(want.tasks);
  state.bytes.Take(want.bytes);
  return {};
}

void QueueRoom::Ended(const Wants& wants, bool failed) {
  base::MutexLock lock(mutex_);
  for (const Want& want : wants) {
    if (failed) {
      GiveBack(want);
      continue;
    }
    State& state = states_[want.queue->id];
    state.tasks.Ended(want.tasks);
    state.bytes.Ended(want.bytes);
  }
}

void QueueRoom::Count(const QueuePtr& queue) {
  auto count = [this, queue](absl::StatusOr<pg::Session*> session) {
    EndCount(*queue, session.ok() ? RunCount(**session, *queue) : session.status());
  };
  context_.pool.Submit(std::move(count), {"counts"});
}

absl::Status QueueRoom::RunCount(pg::Session& session, const model::Queue& queue) {
  const model::QueueLimits& limits = queue.settings.limits;
  bool counts_bytes = false;
  {
    base::MutexLock lock(mutex_);
    State& state = states_[queue.id];
    counts_bytes = limits.max_bytes.has_value() && state.bytes.MayCount(steady_clock::now());
    if (limits.max_depth) state.tasks.BeginCount();
    if (counts_bytes) state.bytes.BeginCount();
  }
  if (limits.max_depth) {
    const base::SteadyTime begin = steady_clock::now();
    ASSIGN_OR_RETURN(const int64_t tasks, store::CountUnfinished(session, queue.lanes));
    base::MutexLock lock(mutex_);
    states_[queue.id].tasks.Counted(tasks, begin, steady_clock::now());
  }
  if (counts_bytes) {
    const base::SteadyTime begin = steady_clock::now();
    const absl::StatusOr<int64_t> bytes = store::MeasureBytes(session, queue.lanes);
    base::MutexLock lock(mutex_);
    FillLevel& level = states_[queue.id].bytes;
    if (bytes.ok()) level.Counted(*bytes, begin, steady_clock::now());
    // So many tasks that reading them takes too long: better let some in than none.
    if (absl::IsDeadlineExceeded(bytes.status())) level.CountEnded(begin, steady_clock::now());
    if (!bytes.ok() && !absl::IsDeadlineExceeded(bytes.status())) return bytes.status();
  }
  return absl::OkStatus();
}

void QueueRoom::EndCount(const model::Queue& queue, const absl::Status& status) {
  std::vector<absl::AnyInvocable<void(absl::Status)>> waiting;
  {
    base::MutexLock lock(mutex_);
    State& state = states_[queue.id];
    state.is_counting = false;
    waiting = std::exchange(state.waiting, {});
  }
  for (auto& again : waiting) again(status);
}

}  // namespace skiplane::broker
