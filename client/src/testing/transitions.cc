#include "client/src/testing/transitions.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace skiplane::internal {
namespace {

const RetryPolicy& RetryOf(const MemoryTask& task, const QueueSettings& settings) {
  if (settings.stages.empty()) return settings.retry;
  const std::optional<RetryPolicy>& own = settings.stages[task.stage].retry;
  return own ? *own : settings.retry;
}

absl::Duration DelayOf(const RetryPolicy& policy, int attempt) {
  constexpr double kGrowthMax = 1e18;  // so that no delay stays none
  absl::Duration delay = policy.base_delay;
  switch (policy.kind) {
    case RetryKind::kLinear: delay *= attempt; break;
    case RetryKind::kFixed: break;
    case RetryKind::kExponential:
      delay *= std::min(std::pow(policy.factor, attempt - 1), kGrowthMax);
      break;
    case RetryKind::kTable:
      delay = policy.delays[std::min(static_cast<size_t>(attempt), policy.delays.size()) - 1];
      break;
  }
  return std::min(delay, policy.max_delay);
}

std::optional<absl::Time> StartOf(const NewTask& content, absl::Time now) {
  if (content.schedule_time) return std::max(*content.schedule_time, now);
  if (content.delay) return now + *content.delay;
  return std::nullopt;
}

// Of a declaration that does not run at once.
absl::Time PlannedOf(const NewTask& content, absl::Time now) {
  const std::optional<absl::Time> start = StartOf(content, now);
  if (start && *start > now) return *start;
  return content.period ? now + *content.period : absl::InfiniteFuture();
}

// A time that is still to come stays: the run before it was triggered.
absl::Time NextPlanned(const MemoryTask& task, absl::Time now) {
  const absl::Time last = *task.planned_time;
  if (last > now || !task.content.period) return last > now ? last : absl::InfiniteFuture();
  absl::Duration rest;
  const int64_t missed = absl::IDivDuration(now - last, *task.content.period, &rest);
  const bool runs_all = task.content.catch_up == CatchUp::kRunAll;
  return last + *task.content.period * (runs_all ? 1 : missed + 1);
}

void SetContent(MemoryTask& task, NewTask content, const QueueSettings& settings) {
  task.content = std::move(content);
  task.payload = {task.content.payload, task.content.content_type, task.content.headers};
  task.max_attempts = task.content.max_attempts.value_or(RetryOf(task, settings).max_attempts);
}

void ForgetAttempts(MemoryTask& task) {
  task.attempts = 0;
  task.error_for_next.reset();
  task.last_progress.reset();
}

void SetError(MemoryTask& task, TaskError error) {
  task.last_error = error;
  task.error_for_next = std::move(error);
}

size_t StageNamed(const std::string& name, const QueueSettings& settings) {
  const auto& stages = settings.stages;
  const auto found = std::find_if(stages.begin(), stages.end(),
                                  [&](const Stage& stage) { return stage.name == name; });
  return found == stages.end() ? 0 : static_cast<size_t>(found - stages.begin());
}

void EndAs(MemoryTask& task, Phase phase, absl::Time now) {
  task.phase = phase;
  task.end_time = now;
}

void WaitForNextRun(MemoryTask& task, const QueueSettings& settings, absl::Time now) {
  task.planned_time = NextPlanned(task, now);
  task.schedule_time = *task.planned_time;
  task.stage = StageNamed(task.content.stage, settings);
  ForgetAttempts(task);
  SetContent(task, std::move(task.content), settings);
}

// The attempt is over. True: so is what was asked for while it ran.
bool EndAttempt(MemoryTask& task, bool is_last_ack, const QueueSettings& settings,
                absl::Time now) {
  task.phase = Phase::kWaiting;
  if (task.progress) task.last_progress = std::exchange(task.progress, std::nullopt);
  if (task.rerun) {
    NewTask content = *std::exchange(task.rerun, std::nullopt);
    content.schedule_time.reset();
    content.delay.reset();
    StartRun(task, std::move(content), settings, now);
    return true;
  }
  if (!task.is_cancel_requested || is_last_ack) return false;
  EndAs(task, Phase::kCancelled, now);
  return true;
}

void EndForGood(MemoryTask& task, const QueueSettings& settings, absl::Time now) {
  if (task.IsPeriodic()) return WaitForNextRun(task, settings, now);
  EndAs(task, Phase::kFailed, now);
}

}  // namespace

void StartRun(MemoryTask& task, NewTask content, const QueueSettings& settings, absl::Time now) {
  task.phase = Phase::kWaiting;
  task.stage = StageNamed(content.stage, settings);
  SetContent(task, std::move(content), settings);
  ForgetAttempts(task);
  const absl::Time at_once = task.content.cron.empty() ? now : absl::InfiniteFuture();
  task.schedule_time = StartOf(task.content, now).value_or(at_once);
  task.planned_time.reset();
  if (task.IsPeriodic()) task.planned_time = task.schedule_time;
  task.end_time.reset();
  task.last_error.reset();
  task.result.clear();
  task.is_cancel_requested = false;
}

bool Declare(MemoryTask& task, NewTask content, const QueueSettings& settings, absl::Time now) {
  const bool has_same_schedule = IsSameSchedule(task.content, content);
  if (!task.HasEnded() && has_same_schedule && IsSameContent(task.content, content)) return false;
  const absl::Time planned = PlannedOf(content, now);
  if (task.HasEnded()) {
    StartRun(task, std::move(content), settings, now);
  } else if (task.phase == Phase::kLeased || task.stage > 0) {
    task.content = std::move(content);
    if (!has_same_schedule) task.planned_time = planned;
    return true;
  } else {
    SetContent(task, std::move(content), settings);
    if (has_same_schedule) return true;
    ForgetAttempts(task);
  }
  task.planned_time = planned;
  task.schedule_time = planned;
  return true;
}

void Lease(MemoryTask& task, absl::Time now) {
  task.phase = Phase::kLeased;
  ++task.attempts;
  ++task.lease_number;
  task.lease_time = now;
  task.lease_end = absl::InfiniteFuture();
  task.progress.reset();
  task.stop = std::stop_source();
}

bool EndAcked(MemoryTask& task, const AckMore& more, const QueueSettings& settings,
              absl::Time now) {
  const size_t next =
      more.next_stage.empty() ? task.stage + 1 : StageNamed(more.next_stage, settings);
  const bool moves = !more.finish && next < settings.stages.size();
  if (EndAttempt(task, !moves && !task.IsPeriodic(), settings, now)) return false;
  if (moves || task.IsPeriodic()) task.last_error.reset();
  if (moves) {
    task.stage = next;
    task.schedule_time = now;
    ForgetAttempts(task);
    task.max_attempts = RetryOf(task, settings).max_attempts;
    if (more.next_payload) task.payload = *more.next_payload;
  } else if (task.IsPeriodic()) {
    WaitForNextRun(task, settings, now);
  } else {
    EndAs(task, Phase::kSucceeded, now);
  }
  return moves;
}

void EndRetried(MemoryTask& task, TaskError error, std::optional<absl::Duration> delay,
                const QueueSettings& settings, absl::Time now) {
  SetError(task, std::move(error));
  if (EndAttempt(task, false, settings, now)) return;
  const absl::Time again = now + delay.value_or(DelayOf(RetryOf(task, settings), task.attempts));
  const bool is_too_late = task.IsPeriodic() && again >= NextPlanned(task, now);
  if (task.attempts >= task.max_attempts || is_too_late) return EndForGood(task, settings, now);
  task.schedule_time = again;
}

void EndFailed(MemoryTask& task, TaskError error, const QueueSettings& settings, absl::Time now) {
  SetError(task, std::move(error));
  if (!EndAttempt(task, false, settings, now)) EndForGood(task, settings, now);
}

void EndReleased(MemoryTask& task, const QueueSettings& settings, absl::Time now) {
  --task.attempts;
  EndAttempt(task, false, settings, now);
}

void EndLost(MemoryTask& task, TaskError error, const QueueSettings& settings, absl::Time now) {
  // Its handler may hold the old one.
  task.stop.request_stop();
  SetError(task, std::move(error));
  if (EndAttempt(task, false, settings, now)) return;
  if (task.attempts >= task.max_attempts) EndForGood(task, settings, now);
}

absl::Time RunEndOf(const MemoryTask& task, const QueueSettings& settings) {
  absl::Duration longest = settings.max_run_duration;
  if (!settings.stages.empty()) {
    longest = settings.stages[task.stage].max_run_duration.value_or(longest);
  }
  return *task.lease_time + longest;
}

}  // namespace skiplane::internal
