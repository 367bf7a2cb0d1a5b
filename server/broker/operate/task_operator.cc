#include "server/broker/operate/task_operator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/enqueue/enqueue_batch.h"
#include "server/broker/enqueue/schedule_check.h"
#include "server/broker/enqueue/task_check.h"
#include "server/broker/operate/change_once.h"
#include "server/broker/operate/explanation.h"
#include "server/broker/operate/view_task.h"
#include "server/broker/operate/wrong_state.h"
#include "server/model/limits.h"
#include "server/store/clock.h"
#include "server/store/task_view.h"

namespace skiplane::broker {
namespace {

constexpr int kPreviewedPerTurn = 50;  // the longest texts of cron take 1 to 2 ms each time

absl::Status CheckContent(const model::Queue& queue, const model::TaskContent& content) {
  model::NewTask task;
  task.payload = content.payload;
  return base::PrefixField("new_content.", CheckTask(queue, task));
}

int64_t BytesOf(const model::TaskView& task) {
  size_t bytes = 512 + task.payload.size() + task.result.size();
  for (const auto& [key, value] : task.headers) bytes += key.size() + value.size() + 8;
  if (task.last_error.has_value()) bytes += task.last_error->text.size();
  return static_cast<int64_t>(bytes);
}

}  // namespace

absl::StatusOr<model::TaskId> TaskOperator::Find(pg::Session& session, const GetTaskCall& call) {
  if (call.key.empty()) {
    RETURN_IF_ERROR(AskFor(session, queues_, call.permit, call.id.lane));
    return call.id;
  }
  RETURN_IF_ERROR(Ask(call.permit, call.queue));
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.GetExisting(session, call.queue, "queue"));
  const int64_t lane = LaneOfKey(*queue, call.key);
  const absl::string_view key = call.key;
  ASSIGN_OR_RETURN(const auto holders, store::HeldKeys(session, lane, absl::MakeSpan(&key, 1)));
  if (holders.empty()) {
    return base::Refuse(absl::StatusCode::kNotFound, "TASK_NOT_FOUND",
                        absl::StrCat("no task of queue \"", queue->name, "\" holds this key, or no "
                                     "longer: keys of finished tasks are kept for history_days"));
  }
  return model::TaskId{lane, holders.begin()->second.task};
}

absl::StatusOr<model::TaskView> TaskOperator::ViewOfKey(pg::Session& session,
                                                        const GetTaskCall& call,
                                                        const model::TaskId& id) {
  absl::StatusOr<model::TaskView> task = ViewTask(session, queues_, id, call.with_payload);
  if (call.key.empty() || !absl::IsNotFound(task.status())) return task;
  const absl::string_view key = call.key;
  ASSIGN_OR_RETURN(const auto holders,
                   store::HeldKeys(session, id.lane, absl::MakeSpan(&key, 1)));
  if (holders.empty() || holders.begin()->second.task != id.id) return task;
  if (!model::HasEnded(holders.begin()->second.state)) return task;
  model::TaskView ended;
  ended.id = id;
  ended.queue = call.queue;
  ended.key = call.key;
  ended.state = holders.begin()->second.state;
  ended.create_time = absl::InfinitePast();
  ended.schedule_time = absl::InfiniteFuture();
  ended.end_time = holders.begin()->second.end_time;
  return ended;
}

absl::StatusOr<TaskDetails> TaskOperator::Get(pg::Session& session, const GetTaskCall& call,
                                              const model::TaskId& id) {
  TaskDetails details;
  ASSIGN_OR_RETURN(details.task, ViewOfKey(session, call, id));
  const int64_t bytes = BytesOf(details.task);
  if (call.attempts_max > 0) {
    const int64_t room = model::kListBytesMax - bytes;
    ASSIGN_OR_RETURN(details.attempts, store::ListAttempts(session, id, call.attempts_before,
                                                           call.attempts_max, room));
    std::vector<model::Attempt>& attempts = details.attempts.items;
    if (details.attempts.has_more) details.attempts_before = attempts.back().end_time;
    if (details.attempts.bytes > room && call.with_payload) {  // the next page has it alone
      details.attempts_before = attempts.front().end_time + absl::Microseconds(1);
      details.attempts = {};
    }
  }
  details.attempts.bytes += bytes;
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, id.lane));
  if (!Ask(call.payload_permit, queue == nullptr ? "" : queue->name).ok()) {
    for (model::Attempt& attempt : details.attempts.items) {
      attempt.payload.clear();
      attempt.result.clear();
    }
  }
  for (const model::Attempt& attempt : details.attempts.items) {
    details.stages.push_back(queue == nullptr ? "" : queue->settings.StageName(attempt.stage));
  }
  return details;
}

absl::StatusOr<Explanation> TaskOperator::Explain(pg::Session& session,
                                                  const ExplainTaskCall& call) {
  const model::TaskId& id = call.id;
  RETURN_IF_ERROR(AskFor(session, queues_, call.permit, id.lane));
  Explanation why;
  ASSIGN_OR_RETURN(why.task, ViewTask(session, queues_, id, false));
  ASSIGN_OR_RETURN(QueuePtr queue, queues_.FindLane(session, id.lane));
  if (queue == nullptr) queue = std::make_shared<const model::Queue>();
  why.waiting_leases = dispatcher_.WaitingCallsAt({id.lane, why.task.stage});
  if (why.task.state == model::TaskState::kReady) {
    ASSIGN_OR_RETURN(why.ahead, store::TasksAhead(session, why.task));
    ASSIGN_OR_RETURN(why.busy_workers,
                     store::BusyWorkers(session, {id.lane, why.task.stage}));
  }
  std::optional<store::ClockStep> step;
  if (why.task.state == model::TaskState::kScheduled) {
    auto found = store::FindClockStepBefore(session, why.task.schedule_time);
    if (!found.ok() && !session.alive()) return found.status();
    if (found.ok()) step = *found;  // an explanation without it is still one
  }
  broker::Explain(*queue, step, &why);
  return why;
}

absl::StatusOr<model::TaskView> TaskOperator::Change(pg::Session& session,
                                                     const ChangeTaskCall& call) {
  RETURN_IF_ERROR(AskFor(session, queues_, call.permit, call.id.lane));
  model::TaskView task;
  store::Changes changes;
  const auto change = [&]() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(task, Apply(session, call, &changes));
    return absl::StrCat(static_cast<int>(task.state));
  };
  ASSIGN_OR_RETURN(const auto earlier, ChangeOnce(session, call.origin, change));
  if (earlier.has_value()) return Recall(session, call, *earlier);
  if (changes.cancelled > 0) {
    context_.metrics.Finished(task.queue, "cancelled", changes.cancelled);
  }
  context_.on_ended(changes.lane, changes.ended);
  on_commit_(store::UnleasedOf(changes), changes.now);
  return task;
}

absl::StatusOr<model::TaskView> TaskOperator::Apply(pg::Session& session,
                                                    const ChangeTaskCall& call,
                                                    store::Changes* changes) {
  ASSIGN_OR_RETURN(model::TaskView before, ViewTask(session, queues_, call.id, false));
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, call.id.lane));
  if (queue == nullptr) return WrongState(before, call);
  if (call.content.has_value()) RETURN_IF_ERROR(CheckContent(*queue, *call.content));
  const bool is_failed = before.state == model::TaskState::kFailed;
  const store::TaskTable table =
      is_failed ? store::TaskTable::kFailed : store::TaskTable::kLiving;
  if (is_failed && !call.change.IsForFailed()) return WrongState(before, call);
  ASSIGN_OR_RETURN(*changes, store::ChangeTasks(session, table, call.id.lane, {call.id.id},
                                                call.change, queue->settings));
  if (changes->tasks.empty()) {
    // What it was when it was read does not say why it is refused, nor whether it still is. To be
    // tried again in another transaction: this one may hold the key of a task that now lives.
    ASSIGN_OR_RETURN(const model::TaskView now, ViewTask(session, queues_, call.id, false));
    if (now.state == before.state) return WrongState(now, call);
    return TaskChangedBeside();
  }
  if (call.content.has_value()) {
    RETURN_IF_ERROR(store::ReplaceContent(session, call.id, *call.content));
  }
  RETURN_IF_ERROR(store::AddAudit(session, call.origin, queue->name, 1));
  if (call.change.kind == model::TaskChange::Kind::kDelete) return before;
  absl::StatusOr<model::TaskView> after = ViewTask(session, queues_, call.id, false);
  if (!absl::IsNotFound(after.status())) return after;
  before.state = model::TaskState::kCancelled;  // and its queue keeps no history
  return before;
}

absl::StatusOr<model::TaskView> TaskOperator::Recall(pg::Session& session,
                                                     const ChangeTaskCall& call,
                                                     const std::string& outcome) {
  absl::StatusOr<model::TaskView> now = ViewTask(session, queues_, call.id, false);
  if (!absl::IsNotFound(now.status())) return now;
  int state = 0;
  if (!absl::SimpleAtoi(outcome, &state)) return now;
  model::TaskView gone;
  gone.id = call.id;
  gone.state = static_cast<model::TaskState>(state);
  gone.create_time = absl::InfinitePast();
  gone.schedule_time = absl::InfiniteFuture();
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, call.id.lane));
  if (queue != nullptr) gone.queue = queue->name;
  return gone;
}

absl::Status TaskOperator::Preview(pg::Session& session, PreviewCall* rest,
                                   std::vector<absl::Time>* times) {
  PreviewCall& call = *rest;
  if (call.task.has_value()) {
    RETURN_IF_ERROR(AskFor(session, queues_, call.permit, call.task->lane));
    ASSIGN_OR_RETURN(const model::TaskView task, ViewTask(session, queues_, *call.task, false));
    if (!task.recurrence.has_value()) {
      return WrongState(task, "PreviewSchedule", "periodic tasks");
    }
    call.period = task.recurrence->period;
    call.cron = task.recurrence->cron;
    call.time_zone = task.recurrence->time_zone;
    if (call.period.has_value()) call.start = task.recurrence->planned_time - *call.period;
    call.task.reset();
  }
  if (call.period.has_value()) {
    const absl::Time first = call.start.value_or(absl::Now());
    for (int n = 1; n <= call.count; ++n) times->push_back(first + n * *call.period);
    call.count = 0;
    return absl::OkStatus();
  }
  const store::Schedule schedule{call.cron, call.time_zone.empty() ? "UTC" : call.time_zone};
  if (times->empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> problems,
                     store::CheckSchedules(session, {schedule}));
    if (!problems.front().empty()) return ScheduleCheck::RefusalOf(problems.front(), "");
  }
  const int count = std::min(call.count, kPreviewedPerTurn);
  ASSIGN_OR_RETURN(const std::vector<absl::Time> next,
                   store::PreviewSchedule(session, schedule, call.start, count));
  times->insert(times->end(), next.begin(), next.end());
  call.start = times->back();
  call.count -= count;
  return absl::OkStatus();
}

}  // namespace skiplane::broker
