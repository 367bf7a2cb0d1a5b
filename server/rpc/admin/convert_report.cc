#include "server/rpc/admin/convert_report.h"

#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/list_token.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::Duration kRangeMost = absl::Hours(24 * 400);
constexpr size_t kTaskIdBytesMax = 64;
constexpr size_t kNoteBytesMax = 4096;
constexpr size_t kActorBytesMax = 255;
constexpr size_t kHandleBytesMax = 64;

void WriteNote(const model::ErrorNote& note, v1::ErrorNote* wire) {
  wire->set_text(note.text);
  wire->set_muted(note.is_muted);
  wire->set_actor(note.actor);
  WriteTime(note.update_time, wire->mutable_update_time());
}

void WriteErrorGroup(model::ErrorGroup* group, const std::string& queue, const std::string& stage,
                     v1::ErrorGroup* wire) {
  wire->set_queue(queue);
  wire->set_fingerprint(std::move(group->fingerprint));
  wire->set_stage(stage);
  wire->set_type(std::move(group->type));
  wire->set_text(std::move(group->text));
  wire->set_retrying_count(group->retrying);
  wire->set_failed_count(group->failed);
  WriteTime(group->first_seen_time, wire->mutable_first_seen_time());
  WriteTime(group->last_seen_time, wire->mutable_last_seen_time());
  for (std::string& id : group->task_ids) wire->add_sample_task_ids(std::move(id));
  if (group->note.has_value()) WriteNote(*group->note, wire->mutable_note());
  for (const int64_t count : group->hourly_failures) wire->add_hourly_failure_counts(count);
}

void WriteWorker(const model::Worker& worker, v1::Worker* wire) {
  wire->set_worker_handle(worker.handle);
  wire->set_name(worker.name);
  WriteTime(worker.create_time, wire->mutable_create_time());
  WriteTime(worker.expire_time, wire->mutable_expire_time());
  wire->set_leased_count(worker.leased);
  WriteDuration(worker.lease_duration, wire->mutable_lease_duration());
  for (const model::TaskId& task : worker.tasks) wire->add_task_ids(model::FormatTaskId(task));
  for (const std::string& queue : worker.queues) wire->add_queues(queue);
  wire->set_client_version(worker.client_version);
  wire->set_concurrency(worker.concurrency);
  wire->set_command(ToWire(worker.command));
}

void WriteAuditRecord(const model::AuditRecord& record, v1::AuditRecord* wire) {
  WriteTime(record.create_time, wire->mutable_create_time());
  wire->set_actor(record.origin.actor);
  wire->set_method(record.origin.method);
  wire->set_queue(record.queue);
  wire->set_request_json(record.origin.request_json);
  wire->set_changed_count(record.changed);
  wire->set_caller(record.origin.caller);
  wire->set_claimed_actor(record.origin.claimed_actor);
}

}  // namespace

absl::StatusOr<broker::AnnotateErrorCall> ReadAnnotateError(
    v1::AnnotateErrorGroupRequest* request) {
  broker::AnnotateErrorCall call;
  RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  RETURN_IF_ERROR(CheckRequiredText(request->fingerprint(), model::kErrorTypeBytesMax,
                                    {"fingerprint"}));
  RETURN_IF_ERROR(CheckText(request->note(), kNoteBytesMax, {"note"}));
  if (!request->has_note() && !request->has_muted()) {
    return InvalidField({"note"}, "one of note and muted is required");
  }
  call.queue = std::move(*request->mutable_queue());
  call.fingerprint = std::move(*request->mutable_fingerprint());
  if (request->has_note()) call.text = std::move(*request->mutable_note());
  if (request->has_muted()) call.is_muted = request->muted();
  return call;
}

void WriteAnnotateError(model::ErrorNote* note, v1::AnnotateErrorGroupResponse* response) {
  WriteNote(*note, response->mutable_note());
}

absl::StatusOr<broker::ListErrorsCall> ReadListErrors(v1::ListErrorGroupsRequest* request) {
  broker::ListErrorsCall call;
  if (!request->queue().empty()) {
    RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  } else if (!request->stage().empty()) {
    return InvalidField({"stage"}, "needs the queue whose stage it is");
  }
  RETURN_IF_ERROR(CheckText(request->stage(), model::kStageNameBytesMax, {"stage"}));
  ASSIGN_OR_RETURN(call.limit, ReadPageSize(request->page_size()));
  call.hide_muted = request->hide_muted();
  if (!request->page_token().empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                     ReadListToken(request->page_token(), TokenScope(*request), 4));
    RETURN_IF_ERROR(ReadNumbers({parts[0], parts[1], parts[2]}, &call.seen_micros,
                                &call.after_queue, &call.after_stage));
    call.after_fingerprint = parts[3];
  }
  call.queue = std::move(*request->mutable_queue());
  call.stage = std::move(*request->mutable_stage());
  return call;
}

void WriteErrorGroups(broker::ErrorPage* page, const std::string& scope,
                      v1::ListErrorGroupsResponse* response) {
  std::vector<model::ErrorGroup>& groups = page->groups.items;
  if (page->groups.has_more) {
    const model::ErrorGroup& last = groups.back();
    response->set_next_page_token(
        WriteListToken({std::to_string(absl::ToUnixMicros(last.last_seen_time)),
                        std::to_string(last.queue), std::to_string(last.stage),
                        last.fingerprint},
                       scope));
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    WriteErrorGroup(&groups[i], page->queues[i], page->stages[i], response->add_groups());
  }
}

absl::StatusOr<broker::StatisticsCall> ReadStatistics(v1::GetStatisticsRequest* request) {
  broker::StatisticsCall call;
  RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  RETURN_IF_ERROR(CheckText(request->stage(), model::kStageNameBytesMax, {"stage"}));
  ASSIGN_OR_RETURN(call.outcome, ReadEnum(request->outcome(), {"outcome"}));
  if (request->has_start_time()) {
    ASSIGN_OR_RETURN(call.start, ReadTime(request->start_time(), {"start_time"}));
  }
  if (request->has_end_time()) {
    ASSIGN_OR_RETURN(call.end, ReadTime(request->end_time(), {"end_time"}));
  }
  const absl::Time start = call.start.value_or(absl::Now() - absl::Hours(24));
  const absl::Time end = call.end.value_or(absl::Now());
  if (call.end.has_value() && end < start) {
    return InvalidField({"end_time"}, "is before start_time");
  }
  if (end - start > kRangeMost) {
    return InvalidField({"end_time"}, "is more than 400 days after start_time");
  }
  if (!request->page_token().empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                     ReadListToken(request->page_token(), TokenScope(*request), 3));
    int64_t hour_micros = 0;
    RETURN_IF_ERROR(ReadNumbers(parts, &hour_micros, &call.after_stage, &call.after_outcome));
    call.after_hour = absl::FromUnixMicros(hour_micros);
  }
  call.queue = std::move(*request->mutable_queue());
  call.stage = std::move(*request->mutable_stage());
  return call;
}

void WriteStatistics(broker::Statistics* statistics, const std::string& scope,
                     v1::GetStatisticsResponse* response) {
  for (size_t i = 0; i < statistics->hours.items.size(); ++i) {
    const model::HourStatistics& hour = statistics->hours.items[i];
    v1::HourStatistics* const wire = response->add_hours();
    WriteTime(hour.start_time, wire->mutable_start_time());
    wire->set_stage(statistics->stages[i]);
    wire->set_outcome(ToWire(hour.outcome));
    wire->set_attempt_count(hour.attempts);
    WriteDuration(hour.run_total, wire->mutable_run_total());
    WriteDuration(hour.run_total / hour.attempts, wire->mutable_run_mean());
    WriteDuration(hour.run_max, wire->mutable_run_max());
    WriteDuration(hour.wait_total, wire->mutable_wait_total());
    WriteDuration(hour.wait_total / hour.attempts, wire->mutable_wait_mean());
  }
  if (!statistics->hours.has_more) return;
  const model::HourStatistics& last = statistics->hours.items.back();
  response->set_next_page_token(WriteListToken(
      {std::to_string(absl::ToUnixMicros(last.start_time)), std::to_string(last.stage),
       std::to_string(static_cast<int>(last.outcome))},
      scope));
}

absl::StatusOr<broker::ListWorkersCall> ReadListWorkers(v1::ListWorkersRequest* request) {
  broker::ListWorkersCall call;
  ASSIGN_OR_RETURN(call.limit, ReadPageSize(request->page_size()));
  if (request->page_token().empty()) return call;
  ASSIGN_OR_RETURN(std::vector<std::string> parts,
                   ReadListToken(request->page_token(), TokenScope(*request), 2));
  call.after_name = std::move(parts[0]);
  call.after_handle = std::move(parts[1]);
  return call;
}

void WriteWorkers(std::vector<model::Worker>* workers, size_t limit,
                  v1::ListWorkersResponse* response) {
  if (workers->size() > limit) {
    workers->resize(limit);
    const model::Worker& last = workers->back();
    response->set_next_page_token(
        WriteListToken({last.name, last.handle}, TokenScope(v1::ListWorkersRequest())));
  }
  for (const model::Worker& worker : *workers) WriteWorker(worker, response->add_workers());
}

absl::StatusOr<broker::CommandWorkerCall> ReadCommandWorker(v1::CommandWorkerRequest* request) {
  broker::CommandWorkerCall call;
  RETURN_IF_ERROR(
      CheckRequiredText(request->worker_handle(), kHandleBytesMax, {"worker_handle"}));
  ASSIGN_OR_RETURN(const auto command, ReadEnum(request->command(), {"command"}));
  if (!command.has_value()) {
    return InvalidField({"command"}, "is required: WORKER_COMMAND_RUN, _QUIET or _STOP");
  }
  call.command = *command;
  call.handle = std::move(*request->mutable_worker_handle());
  return call;
}

void WriteCommandWorker(model::Worker* worker, v1::CommandWorkerResponse* response) {
  if (worker->expire_time == absl::Time()) {  // it is gone
    response->mutable_worker()->set_worker_handle(worker->handle);
  } else {
    WriteWorker(*worker, response->mutable_worker());
  }
}

absl::StatusOr<broker::ListAuditCall> ReadListAudit(v1::ListAuditRecordsRequest* request) {
  broker::ListAuditCall call;
  if (!request->queue().empty()) {
    RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  }
  ASSIGN_OR_RETURN(call.limit, ReadPageSize(request->page_size()));
  if (!request->page_token().empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                     ReadListToken(request->page_token(), TokenScope(*request), 1));
    RETURN_IF_ERROR(ReadNumbers(parts, &call.before));
  }
  RETURN_IF_ERROR(CheckText(request->task_id(), kTaskIdBytesMax, {"task_id"}));
  RETURN_IF_ERROR(CheckText(request->actor(), kActorBytesMax, {"actor"}));
  if (request->has_start_time()) {
    ASSIGN_OR_RETURN(call.start, ReadTime(request->start_time(), {"start_time"}));
  }
  if (request->has_end_time()) {
    ASSIGN_OR_RETURN(call.end, ReadTime(request->end_time(), {"end_time"}));
  }
  if (call.end < call.start) return InvalidField({"end_time"}, "is before start_time");
  call.task_id = std::move(*request->mutable_task_id());
  call.actor = std::move(*request->mutable_actor());
  call.queue = std::move(*request->mutable_queue());
  return call;
}

void WriteAudit(broker::AuditPage* page, const std::string& scope,
                v1::ListAuditRecordsResponse* response) {
  if (page->before.has_value()) {
    response->set_next_page_token(WriteListToken({std::to_string(*page->before)}, scope));
  }
  for (const model::AuditRecord& record : page->records.items) {
    WriteAuditRecord(record, response->add_records());
  }
}

}  // namespace skiplane::rpc
