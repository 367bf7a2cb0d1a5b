#include "server/broker/operate/explanation.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace skiplane::broker {
namespace {

constexpr int64_t kAheadMost = 10001;  // as far as task_ahead.sql counts

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

std::string AheadText(int64_t ahead) {
  if (ahead >= kAheadMost) return absl::StrCat("more than ", kAheadMost - 1, " tasks are");
  return ahead == 1 ? std::string("1 task is") : absl::StrCat(ahead, " tasks are");
}

// One reason in words, or nothing to say.
std::string TextOf(WaitReason reason, const Explanation& why, const model::Queue& queue) {
  const model::TaskView& task = why.task;
  switch (reason) {
    case WaitReason::kNone:
      return "it is ready: the next worker that asks takes it";
    case WaitReason::kRunning:
      return absl::StrCat("it runs at ", task.worker_name.empty() ? "a worker" : task.worker_name,
                          " since ", TimeText(task.lease_time.value_or(absl::InfinitePast())));
    case WaitReason::kEnded:
      return "it has ended";
    case WaitReason::kScheduled:
      return absl::StrCat("its time comes at ", TimeText(task.schedule_time));
    case WaitReason::kRetry:
      return absl::StrCat("attempt ", task.attempt, " of ", task.max_attempts,
                          " failed; the next one is at ", TimeText(task.schedule_time));
    case WaitReason::kTaskPaused:
      return "it is paused: resume or trigger it";
    case WaitReason::kQueuePaused:
      return absl::StrCat("leases of queue \"", queue.name, "\" are paused",
                          queue.pause_reason.empty() ? "" : ": ", queue.pause_reason);
    case WaitReason::kBehindOthers:
      return absl::StrCat(AheadText(why.ahead), " before it");
    case WaitReason::kNoWorker:
      return "no worker asks this broker for its queue and stage";
    case WaitReason::kWorkersBusy:
      return why.busy_workers == 1 ? "the worker of its queue and stage is busy"
                                   : absl::StrCat("all ", why.busy_workers,
                                                  " workers of its queue and stage are busy");
  }
  return "";
}

// Why a time that seemed near is far away.
std::string ClockText(const store::ClockStep& step, absl::Time schedule_time) {
  const std::string size = absl::FormatDuration(absl::Trunc(step.Back(), absl::Milliseconds(1)));
  const bool is_being_mended = !step.is_mended && schedule_time <= step.old_time;
  return absl::StrCat("the database's clock went back by ", size, ", from ",
                      TimeText(step.old_time),
                      " to ", TimeText(step.seen_time),
                      is_being_mended ? ": what was due by then is made due again within a minute"
                                      : ": times that were named before come that much later");
}

std::vector<WaitReason> ReasonsOf(const Explanation& why, const model::Queue& queue) {
  std::vector<WaitReason> reasons;
  const bool is_paused = why.task.recurrence.has_value() && why.task.recurrence->is_paused;
  switch (why.task.state) {
    case model::TaskState::kLeased:
      return {WaitReason::kRunning};
    case model::TaskState::kScheduled:
      reasons.push_back(is_paused             ? WaitReason::kTaskPaused
                        : why.task.attempt > 0 ? WaitReason::kRetry
                                               : WaitReason::kScheduled);
      break;
    case model::TaskState::kReady:
      break;
    default:
      return {WaitReason::kEnded};
  }
  if (queue.LeasesPaused()) reasons.push_back(WaitReason::kQueuePaused);
  if (why.task.state == model::TaskState::kScheduled) return reasons;
  if (why.waiting_leases == 0) {
    reasons.push_back(why.busy_workers > 0 ? WaitReason::kWorkersBusy : WaitReason::kNoWorker);
  }
  if (why.ahead > 0) reasons.push_back(WaitReason::kBehindOthers);
  if (reasons.empty()) reasons.push_back(WaitReason::kNone);
  return reasons;
}

}  // namespace

void Explain(const model::Queue& queue, const std::optional<store::ClockStep>& step,
             Explanation* why) {
  why->reasons = ReasonsOf(*why, queue);
  std::vector<std::string> texts;
  for (const WaitReason reason : why->reasons) texts.push_back(TextOf(reason, *why, queue));
  if (step.has_value()) texts.push_back(ClockText(*step, why->task.schedule_time));
  why->text = absl::StrJoin(texts, "; ");
}

}  // namespace skiplane::broker
