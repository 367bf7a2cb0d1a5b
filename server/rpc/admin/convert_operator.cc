#include "server/rpc/admin/convert_operator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/admin/convert_bulk.h"
#include "server/rpc/admin/convert_filter.h"
#include "server/rpc/broker/convert_task.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/list_token.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

using Kind = model::TaskChange::Kind;

constexpr size_t kHandleDigits = 16;

template <typename Request>
absl::StatusOr<broker::ChangeTaskCall> ReadChange(const Request& request, Kind kind) {
  broker::ChangeTaskCall call;
  ASSIGN_OR_RETURN(call.id, model::ParseTaskId(request.task_id()));
  call.change.kind = kind;
  return call;
}

std::string AttemptsScope(const model::TaskId& id) {
  return absl::StrCat("attempts of ", model::FormatTaskId(id));
}

// Either the id, or queue and key.
absl::Status ReadWhich(v1::GetTaskRequest* request, broker::GetTaskCall* call) {
  if (!request->task_id().empty()) {
    if (!request->queue().empty()) {
      return InvalidField({"queue"}, "must be unset with a task_id");
    }
    if (!request->key().empty()) return InvalidField({"key"}, "must be unset with a task_id");
    ASSIGN_OR_RETURN(call->id, model::ParseTaskId(request->task_id()));
    return absl::OkStatus();
  }
  if (request->queue().empty() && request->key().empty()) {
    return InvalidField({"task_id"}, "a task_id, or queue and key, is required");
  }
  RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  RETURN_IF_ERROR(CheckRequiredText(request->key(), model::kKeyBytesMax, {"key"}));
  call->queue = std::move(*request->mutable_queue());
  call->key = std::move(*request->mutable_key());
  return absl::OkStatus();
}

absl::Status ReadQueues(v1::ListTasksRequest* request, std::vector<std::string>* queues) {
  RETURN_IF_ERROR(CheckCount(request->queues_size(), {0, model::kQueuesPerListMax}, {"queues"}));
  if (request->queues_size() > 0 && !request->filter().queue().empty()) {
    return InvalidField({"filter.queue"}, "must be unset with queues");
  }
  for (std::string& name : *request->mutable_queues()) {
    RETURN_IF_ERROR(model::CheckQueueName(name, absl::StrCat("queues[", queues->size(), "]")));
    queues->push_back(std::move(name));
  }
  return absl::OkStatus();
}

absl::Status CheckHandle(absl::string_view handle) {
  const bool is_one = handle.size() == kHandleDigits &&
                      std::all_of(handle.begin(), handle.end(), [](char c) {
                        return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
                      });
  if (handle.empty() || is_one) return absl::OkStatus();
  return InvalidField({"worker_handle"}, "must be that of a worker: 16 hexadecimal digits");
}

}  // namespace

absl::StatusOr<broker::GetTaskCall> ReadGetTask(v1::GetTaskRequest* request) {
  broker::GetTaskCall call;
  RETURN_IF_ERROR(ReadWhich(request, &call));
  ASSIGN_OR_RETURN(call.with_payload, ReadEnum(request->view(), {"view"}));
  if (request->has_wait()) {
    ASSIGN_OR_RETURN(call.wait, ReadDuration(request->wait(),
                                             {absl::ZeroDuration(), model::kWaitMax}, {"wait"}));
  }
  if (request->attempts_page_size() < 0) {
    return InvalidField({"attempts_page_size"}, "must not be negative");
  }
  call.attempts_max = std::min(request->attempts_page_size(), kPageMost);
  if (request->attempts_page_token().empty()) return call;
  if (!call.key.empty()) {
    return InvalidField({"attempts_page_token"},
                        "must be unset with a key: give the task_id of the answer before");
  }
  const auto parts = ReadListToken(request->attempts_page_token(), AttemptsScope(call.id), 1);
  int64_t before_micros = 0;
  if (!parts.ok() || !ReadNumbers(*parts, &before_micros).ok()) {
    return InvalidField({"attempts_page_token"},
                        "must be the next_attempts_page_token of the same task");
  }
  call.attempts_before = absl::FromUnixMicros(before_micros);
  call.with_payload = false;  // the first page had it
  return call;
}

void WriteGetTask(broker::TaskDetails* details, v1::GetTaskResponse* response) {
  std::vector<model::Attempt>& attempts = details->attempts.items;
  if (details->attempts_before.has_value()) {
    response->set_next_attempts_page_token(
        WriteListToken({std::to_string(absl::ToUnixMicros(*details->attempts_before))},
                       AttemptsScope(details->task.id)));
  }
  WriteTask(&details->task, response->mutable_task());
  for (size_t i = 0; i < attempts.size(); ++i) {
    WriteAttempt(&attempts[i], details->stages[i], response->add_attempts());
  }
}

absl::StatusOr<broker::ListTasksCall> ReadListTasks(v1::ListTasksRequest* request) {
  broker::ListTasksCall call;
  if (request->filter().all()) {
    return InvalidField({"filter.all"}, "must be unset: it is for bulk operations");
  }
  const std::string scope = TokenScope(*request);
  RETURN_IF_ERROR(ReadQueues(request, &call.queues));
  ASSIGN_OR_RETURN(call.filter, ReadFilter(request->mutable_filter(), !call.queues.empty()));
  ASSIGN_OR_RETURN(call.newest_first, ReadEnum(request->order(), {"order"}));
  if (call.filter.states.IsEmpty()) call.filter.states = LivingStates();
  ASSIGN_OR_RETURN(call.with_payload, ReadEnum(request->view(), {"view"}));
  ASSIGN_OR_RETURN(call.limit, ReadPageSize(request->page_size()));
  RETURN_IF_ERROR(CheckHandle(request->worker_handle()));
  call.worker = std::move(*request->mutable_worker_handle());
  if (request->page_token().empty()) return call;
  ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                   ReadListToken(request->page_token(), scope, 1));
  RETURN_IF_ERROR(ReadNumbers(parts, &call.after.emplace()));
  return call;
}

absl::StatusOr<broker::ExplainTaskCall> ReadExplainTask(v1::ExplainTaskRequest* request) {
  broker::ExplainTaskCall call;
  ASSIGN_OR_RETURN(call.id, model::ParseTaskId(request->task_id()));
  return call;
}

void WriteExplainTask(broker::Explanation* why, v1::ExplainTaskResponse* response) {
  for (const broker::WaitReason reason : why->reasons) response->add_reasons(ToWire(reason));
  response->set_explanation(std::move(why->text));
  const bool waits = why->task.state == model::TaskState::kScheduled;
  if (waits && why->task.schedule_time != absl::InfiniteFuture()) {
    WriteTime(why->task.schedule_time, response->mutable_schedule_time());
  }
  response->set_ahead_count(why->ahead);
  response->set_busy_worker_count(why->busy_workers);
  response->set_waiting_lease_count(why->waiting_leases);
  WriteTask(&why->task, response->mutable_task());
}

absl::StatusOr<broker::ChangeTaskCall> ReadPrioritizeTask(v1::PrioritizeTaskRequest* request) {
  ASSIGN_OR_RETURN(broker::ChangeTaskCall call, ReadChange(*request, Kind::kPrioritize));
  if (!request->has_priority()) return InvalidField({"priority"}, "is required");
  RETURN_IF_ERROR(CheckNumber(request->priority(), {model::kPriorityMin, model::kPriorityMax},
                              {"priority"}));
  call.change.priority = static_cast<int16_t>(request->priority());
  return call;
}

absl::StatusOr<broker::ChangeTaskCall> ReadRescheduleTask(v1::RescheduleTaskRequest* request) {
  ASSIGN_OR_RETURN(broker::ChangeTaskCall call, ReadChange(*request, Kind::kRunNow));
  switch (request->time_case()) {
    case v1::RescheduleTaskRequest::kRunNow:
      break;
    case v1::RescheduleTaskRequest::kScheduleTime: {
      call.change.kind = Kind::kRunAt;
      ASSIGN_OR_RETURN(call.change.schedule_time,
                       ReadStartTime(request->schedule_time(), {"schedule_time"}));
      break;
    }
    case v1::RescheduleTaskRequest::kPostpone: {
      call.change.kind = Kind::kPostpone;
      ASSIGN_OR_RETURN(call.change.postpone, ReadPostpone(request->postpone(), {"postpone"}));
      break;
    }
    default:
      return InvalidField({"time"}, "one of run_now, schedule_time and postpone is required");
  }
  return call;
}

absl::StatusOr<broker::ChangeTaskCall> ReadCancelTask(v1::CancelTaskRequest* request) {
  return ReadChange(*request, Kind::kCancel);
}

absl::StatusOr<broker::ChangeTaskCall> ReadDeleteTask(v1::DeleteTaskRequest* request) {
  return ReadChange(*request, Kind::kDelete);
}

absl::StatusOr<broker::ChangeTaskCall> ReadPauseTask(v1::PauseTaskRequest* request) {
  return ReadChange(*request, Kind::kPause);
}

absl::StatusOr<broker::ChangeTaskCall> ReadResumeTask(v1::ResumeTaskRequest* request) {
  return ReadChange(*request, Kind::kResume);
}

absl::StatusOr<broker::ChangeTaskCall> ReadTriggerTask(v1::TriggerTaskRequest* request) {
  return ReadChange(*request, Kind::kTrigger);
}

absl::StatusOr<broker::PreviewCall> ReadPreviewSchedule(v1::PreviewScheduleRequest* request) {
  broker::PreviewCall call;
  switch (request->schedule_case()) {
    case v1::PreviewScheduleRequest::kTaskId: {
      ASSIGN_OR_RETURN(call.task, model::ParseTaskId(request->task_id()));
      break;
    }
    case v1::PreviewScheduleRequest::kPeriod: {
      ASSIGN_OR_RETURN(call.period, ReadDuration(request->period(),
                                                 {model::kPeriodMin, model::kPeriodMax},
                                                 {"period"}));
      break;
    }
    case v1::PreviewScheduleRequest::kCron:
      RETURN_IF_ERROR(CheckRequiredText(request->cron(), model::kCronBytesMax, {"cron"}));
      call.cron = std::move(*request->mutable_cron());
      break;
    default:
      return InvalidField({"schedule"}, "one of task_id, period and cron is required");
  }
  RETURN_IF_ERROR(CheckText(request->time_zone(), model::kTimeZoneBytesMax, {"time_zone"}));
  if (!request->time_zone().empty() && call.cron.empty()) {
    return InvalidField({"time_zone"}, "must be unset without cron");
  }
  call.time_zone = std::move(*request->mutable_time_zone());
  if (request->has_start_time()) {
    ASSIGN_OR_RETURN(call.start, ReadTime(request->start_time(), {"start_time"}));
  }
  RETURN_IF_ERROR(CheckNumber(request->count(), {0, kPageMost}, {"count"}));
  if (request->count() > 0) call.count = request->count();
  return call;
}

void WritePreviewSchedule(std::vector<absl::Time>* times, v1::PreviewScheduleResponse* response) {
  static const absl::Time end = absl::FromCivil(absl::CivilYear(10000), absl::UTCTimeZone());
  for (const absl::Time time : *times) {
    if (time >= end) return;  // beyond what a Timestamp may say
    WriteTime(time, response->add_planned_times());
  }
}

}  // namespace skiplane::rpc
