#include "server/rpc/broker/convert_task.h"

#include <string>
#include <utility>

#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

void WriteRecurrence(const model::Recurrence& recurrence, v1::Recurrence* wire) {
  if (recurrence.period) WriteDuration(*recurrence.period, wire->mutable_period());
  wire->set_cron(recurrence.cron);
  if (!recurrence.cron.empty()) {
    wire->set_time_zone(recurrence.time_zone.empty() ? "UTC" : recurrence.time_zone);
  }
  WriteTime(recurrence.planned_time, wire->mutable_planned_time());
  wire->set_catch_up(recurrence.run_all ? v1::CATCH_UP_RUN_ALL : v1::CATCH_UP_SKIP_MISSED);
  wire->set_paused(recurrence.is_paused);
}

void WriteReports(model::TaskView* task, v1::Task* wire) {
  if (task->last_error) WriteError(&*task->last_error, wire->mutable_last_error());
  if (task->progress) WriteProgress(&*task->progress, wire->mutable_progress());
  if (task->last_progress) WriteProgress(&*task->last_progress, wire->mutable_last_progress());
}

}  // namespace

void WriteError(model::TaskError* error, v1::TaskError* wire) {
  wire->set_type(std::move(error->type));
  wire->set_text(std::move(error->text));
  wire->set_fingerprint(std::move(error->fingerprint));
}

void WriteProgress(model::TaskProgress* progress, v1::TaskProgress* wire) {
  wire->set_fraction(progress->fraction);
  wire->set_message(std::move(progress->message));
}

void WriteTask(model::TaskView* task, v1::Task* wire) {
  wire->set_task_id(model::FormatTaskId(task->id));
  wire->set_queue(std::move(task->queue));
  wire->set_state(ToWire(task->state));
  wire->set_key(std::move(task->key));
  wire->set_priority(task->priority);
  wire->set_attempt_count(task->attempt);
  wire->set_max_attempts(task->max_attempts);
  if (task->create_time != absl::InfinitePast()) {
    WriteTime(task->create_time, wire->mutable_create_time());
  }
  if (task->schedule_time != absl::InfiniteFuture()) {
    WriteTime(task->schedule_time, wire->mutable_schedule_time());
  }
  if (task->lease_time) WriteTime(*task->lease_time, wire->mutable_lease_time());
  if (task->end_time) WriteTime(*task->end_time, wire->mutable_end_time());
  wire->set_worker_name(std::move(task->worker_name));
  wire->set_worker_handle(std::move(task->worker_handle));
  wire->set_stage(std::move(task->stage_name));
  if (task->version > 0) wire->set_version(task->version);
  if (task->recurrence) WriteRecurrence(*task->recurrence, wire->mutable_recurrence());
  wire->set_rerun_pending(task->rerun_pending);
  wire->set_cancel_requested(task->cancel_requested);
  wire->set_payload(std::move(task->payload));
  wire->set_content_type(std::move(task->content_type));
  wire->set_result(std::move(task->result));
  for (const auto& [key, value] : task->headers) (*wire->mutable_headers())[key] = value;
  WriteReports(task, wire);
}

void WriteAttempt(model::Attempt* attempt, const std::string& stage, v1::Attempt* wire) {
  wire->set_attempt(attempt->attempt);
  wire->set_outcome(ToWire(attempt->outcome));
  wire->set_stage(stage);
  WriteTime(attempt->schedule_time, wire->mutable_schedule_time());
  if (attempt->lease_time) WriteTime(*attempt->lease_time, wire->mutable_lease_time());
  WriteTime(attempt->end_time, wire->mutable_end_time());
  wire->set_worker_name(std::move(attempt->worker_name));
  if (attempt->error) WriteError(&*attempt->error, wire->mutable_error());
  wire->set_ends_task(attempt->ends_task);
  wire->set_payload(std::move(attempt->payload));
  wire->set_result(std::move(attempt->result));
}

}  // namespace skiplane::rpc
