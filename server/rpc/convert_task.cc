#include "server/rpc/convert_task.h"

#include <string>
#include <utility>

#include "server/rpc/wire_time.h"

namespace skiplane::rpc {
namespace {

void WriteReports(model::TaskView* task, v1::Task* wire) {
  if (task->last_error) {
    v1::TaskError* error = wire->mutable_last_error();
    error->set_type(std::move(task->last_error->type));
    error->set_text(std::move(task->last_error->text));
    error->set_fingerprint(std::move(task->last_error->fingerprint));
  }
  if (task->progress) {
    wire->mutable_progress()->set_fraction(task->progress->fraction);
    wire->mutable_progress()->set_message(std::move(task->progress->message));
  }
}

}  // namespace

v1::TaskState WireState(model::TaskState state) {
  switch (state) {
    case model::TaskState::kScheduled:
      return v1::TASK_STATE_SCHEDULED;
    case model::TaskState::kReady:
      return v1::TASK_STATE_READY;
    case model::TaskState::kLeased:
      return v1::TASK_STATE_LEASED;
    case model::TaskState::kSucceeded:
      return v1::TASK_STATE_SUCCEEDED;
    case model::TaskState::kFailed:
      return v1::TASK_STATE_FAILED;
    case model::TaskState::kCancelled:
      return v1::TASK_STATE_CANCELLED;
  }
  return v1::TASK_STATE_UNSPECIFIED;
}

void WriteGetTask(model::TaskView* task, v1::GetTaskResponse* response) {
  v1::Task* wire = response->mutable_task();
  wire->set_task_id(model::FormatTaskId(task->id));
  wire->set_queue(std::move(task->queue));
  wire->set_state(WireState(task->state));
  wire->set_key(std::move(task->key));
  wire->set_priority(task->priority);
  wire->set_attempt(task->attempt);
  wire->set_max_attempts(task->max_attempts);
  WriteTime(task->create_time, wire->mutable_create_time());
  WriteTime(task->schedule_time, wire->mutable_schedule_time());
  if (task->lease_time) WriteTime(*task->lease_time, wire->mutable_lease_time());
  if (task->end_time) WriteTime(*task->end_time, wire->mutable_end_time());
  wire->set_worker_name(std::move(task->worker_name));
  WriteReports(task, wire);
}

}  // namespace skiplane::rpc
