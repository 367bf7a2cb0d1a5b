#include "server/broker/operate/wrong_state.h"

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"

namespace skiplane::broker {
namespace {

using Kind = model::TaskChange::Kind;

absl::Status Refuse(absl::string_view message) {
  return base::Refuse(absl::StatusCode::kFailedPrecondition, "WRONG_STATE", message);
}

absl::string_view SuitedTasks(Kind kind) {
  switch (kind) {
    case Kind::kPrioritize:
    case Kind::kCancel:
      return "tasks that have not ended";
    case Kind::kRunNow:
    case Kind::kRunAt:
    case Kind::kPostpone:
      return "waiting tasks";
    case Kind::kDelete:
      return "waiting and FAILED tasks";
    case Kind::kPause:
      return "periodic tasks";
    case Kind::kResume:
      return "paused periodic tasks";
    case Kind::kRetry:
      return "FAILED tasks and tasks that wait for a retry";
    case Kind::kTrigger:
      return "waiting periodic tasks";
    case Kind::kDeleteQueue:
      return "queues";
  }
  return "";
}

// Whether the change would run the task, which its pause forbids.
bool IsHeldBack(const model::TaskView& task, Kind kind) {
  const bool waits =
      task.state == model::TaskState::kScheduled || task.state == model::TaskState::kReady;
  return waits && task.recurrence.has_value() && task.recurrence->is_paused &&
         (kind == Kind::kRunNow || kind == Kind::kRunAt || kind == Kind::kPostpone ||
          kind == Kind::kRetry);
}

}  // namespace

absl::Status WrongState(const model::TaskView& task, absl::string_view method,
                        absl::string_view suited) {
  static constexpr const char* kStates[] = {"",          "SCHEDULED", "READY",    "LEASED",
                                            "SUCCEEDED", "FAILED",    "CANCELLED"};
  const char* const periodic = task.recurrence.has_value() ? "periodic" : "not periodic";
  return Refuse(absl::StrCat(method, " is for ", suited, ": task ", model::FormatTaskId(task.id),
                             " is ", kStates[static_cast<int>(task.state)], " and ", periodic));
}

absl::Status WrongState(const model::TaskView& task, const ChangeTaskCall& call) {
  if (IsHeldBack(task, call.change.kind)) {
    return PausedTask(task.id);
  }
  return WrongState(task, call.origin.method, SuitedTasks(call.change.kind));
}

absl::Status PausedTask(const model::TaskId& id) {
  return Refuse(absl::StrCat("task ", model::FormatTaskId(id),
                             " is paused: resume it (ResumeTask) or trigger it (TriggerTask)"));
}

}  // namespace skiplane::broker
