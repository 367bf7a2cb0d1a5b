#include "server/broker/operate/task_copier.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/operate/change_once.h"
#include "server/broker/operate/view_task.h"
#include "server/broker/operate/wrong_state.h"
#include "server/store/settle.h"
#include "server/store/task_change.h"

namespace skiplane::broker {
namespace {

bool MayMove(const model::TaskView& task) {
  return task.state == model::TaskState::kScheduled || task.state == model::TaskState::kReady ||
         task.state == model::TaskState::kFailed;
}

bool IsPaused(const model::TaskView& task) {
  return task.recurrence.has_value() && task.recurrence->is_paused;
}

// What a move takes along, and a copy does not.
void TakeAlong(const model::TaskView& task, model::NewTask* made) {
  made->key = task.key;
  if (!task.key.empty()) made->version = task.version;
  if (task.state == model::TaskState::kScheduled) made->schedule_time = task.schedule_time;
  if (!task.recurrence.has_value()) return;
  made->period = task.recurrence->period;
  made->cron = task.recurrence->cron;
  made->time_zone = task.recurrence->time_zone;
  made->run_all = task.recurrence->run_all;
}

absl::Status PayloadNotKept(const model::TaskId& id) {
  return base::Refuse(absl::StatusCode::kFailedPrecondition, "PAYLOAD_NOT_KEPT",
                      absl::StrCat("the payload of task ", model::FormatTaskId(id),
                                   " is not kept any more: give new_content"));
}

// Fields of a task are named otherwise where it is drafted from another one.
absl::Status BlameContent(const absl::Status& status) {
  return base::FieldOf(status) == "payload" ? base::PrefixField("new_content.", status) : status;
}

}  // namespace

absl::StatusOr<model::TaskView> TaskCopier::Copy(pg::Session& session, const CopyTaskCall& call) {
  RETURN_IF_ERROR(AskFor(session, queues_, call.permit, call.id.lane));
  Copied copied;
  const auto change = [&]() -> absl::StatusOr<std::string> {
    copied = {};
    RETURN_IF_ERROR(Write(session, call, &copied));
    return model::FormatTaskId(copied.id);
  };
  const auto earlier = ChangeOnce(session, call.origin, change);
  const bool key_is_held = absl::IsAlreadyExists(earlier.status()) &&
                           base::ReasonOf(earlier.status()).empty() && copied.pending != nullptr;
  if (key_is_held) return KeyExists(session, *copied.pending);
  RETURN_IF_ERROR(earlier.status());
  if (earlier->has_value()) {
    ASSIGN_OR_RETURN(const model::TaskId id, model::ParseTaskId(**earlier));
    return View(session, id);
  }
  enqueuer_.Committed(copied.written);
  if (call.moves) context_.on_ended(call.id.lane, {call.id.id});
  return View(session, copied.id);
}

absl::Status TaskCopier::Write(pg::Session& session, const CopyTaskCall& call, Copied* copied) {
  ASSIGN_OR_RETURN(const model::TaskView task, Read(session, call));
  ASSIGN_OR_RETURN(const model::NewTask draft, Draft(session, call, task));
  if (call.moves) RETURN_IF_ERROR(Remove(session, task));
  auto pending = enqueuer_.Prepare(session, draft, call.principal, "");
  if (!pending.ok()) return BlameContent(pending.status());
  PendingEnqueues calls;
  calls.push_back(*std::move(pending));
  const auto results = enqueuer_.WriteInTransaction(session, calls, &copied->written);
  copied->pending = std::move(calls.front());
  RETURN_IF_ERROR(results.status());
  RETURN_IF_ERROR(store::AddAudit(session, call.origin, task.queue, 1));
  if (draft.queue != task.queue) {
    RETURN_IF_ERROR(store::AddAudit(session, call.origin, draft.queue, 1));
  }
  copied->id = results->front().id;
  return absl::OkStatus();
}

absl::StatusOr<model::TaskView> TaskCopier::Read(pg::Session& session, const CopyTaskCall& call) {
  if (call.moves) {
    RETURN_IF_ERROR(store::LockTasks(session, call.id.lane, {call.id.id}, {}));
  }
  ASSIGN_OR_RETURN(model::TaskView task, ViewTask(session, queues_, call.id, true));
  if (call.moves && !MayMove(task)) {
    return WrongState(task, "MoveTask", "waiting and FAILED tasks");
  }
  if (call.moves && IsPaused(task)) return PausedTask(task.id);
  if (!task.has_payload && !call.content.has_value()) return PayloadNotKept(task.id);
  return task;
}

absl::StatusOr<model::NewTask> TaskCopier::Draft(pg::Session& session, const CopyTaskCall& call,
                                                 const model::TaskView& task) {
  model::NewTask made;
  made.queue = call.queue.empty() ? task.queue : call.queue;
  RETURN_IF_ERROR(Ask(call.target_permit, made.queue));
  // A queue that this transaction made would be known before its commit.
  RETURN_IF_ERROR(queues_.GetExisting(session, made.queue, "queue").status());
  if (call.moves && made.queue == task.queue) {
    return base::InvalidField("queue", "is the queue of the task: RetryTask gives it new content");
  }
  made.payload = call.content.has_value() ? call.content->payload : task.payload;
  made.content_type = call.content.has_value() ? call.content->content_type : task.content_type;
  made.headers = call.content.has_value() ? call.content->headers : task.headers;
  made.priority = task.priority;
  made.max_attempts = task.max_attempts;
  made.stage = call.stage;
  made.key = call.key;
  if (call.moves) TakeAlong(task, &made);
  if (!made.key.empty()) made.key_policy = model::KeyPolicy::kReject;
  return made;
}

absl::Status TaskCopier::Remove(pg::Session& session, const model::TaskView& task) {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, task.id.lane));
  const auto table = task.state == model::TaskState::kFailed ? store::TaskTable::kFailed
                                                             : store::TaskTable::kLiving;
  model::TaskChange change;
  change.kind = model::TaskChange::Kind::kDelete;
  ASSIGN_OR_RETURN(const store::Changes changes,
                   store::ChangeTasks(session, table, task.id.lane, {task.id.id}, change,
                                      queue->settings));
  if (!changes.tasks.empty()) return absl::OkStatus();
  return TaskChangedBeside();
}

absl::StatusOr<model::TaskView> TaskCopier::View(pg::Session& session, const model::TaskId& id) {
  absl::StatusOr<model::TaskView> now = ViewTask(session, queues_, id, false);
  if (!absl::IsNotFound(now.status())) return now;
  model::TaskView gone;
  gone.id = id;
  gone.create_time = absl::InfinitePast();
  gone.schedule_time = absl::InfiniteFuture();
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, id.lane));
  if (queue != nullptr) gone.queue = queue->name;
  return gone;
}

}  // namespace skiplane::broker
