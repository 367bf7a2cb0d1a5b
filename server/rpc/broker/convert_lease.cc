#include "server/rpc/broker/convert_lease.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_task.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr size_t kClientVersionBytesMax = 64;
constexpr int kConcurrencyMax = 100'000;
constexpr DurationRange kWaitRange = {absl::ZeroDuration(), model::kWaitMax};
constexpr DurationRange kLeaseRange = {model::kLeaseDurationMin, model::kLeaseDurationMax};

absl::StatusOr<std::vector<broker::LeaseQueue>> ReadQueues(const v1::LeaseRequest& request) {
  RETURN_IF_ERROR(
      CheckCount(request.queues_size(), {1, model::kQueuesPerLeaseMax}, {"queues"}));
  std::vector<broker::LeaseQueue> queues;
  absl::flat_hash_set<std::pair<std::string, std::string>> names;
  for (size_t i = 0; i < static_cast<size_t>(request.queues_size()); ++i) {
    const v1::LeaseQueue& queue = request.queues(static_cast<int>(i));
    const Field field = {"name", "queues", i};
    RETURN_IF_ERROR(model::CheckQueueName(queue.name(), field.Path()));
    RETURN_IF_ERROR(
        CheckNumber(queue.weight(), {0, model::kQueueWeightMax}, {"weight", "queues", i}));
    RETURN_IF_ERROR(
        CheckText(queue.stage(), model::kStageNameBytesMax, {"stage", "queues", i}));
    RETURN_IF_ERROR(
        CheckNumber(queue.max_tasks(), {0, model::kTasksPerCallMax}, {"max_tasks", "queues", i}));
    if (!names.insert({queue.name(), queue.stage()}).second) {
      return InvalidField(field, "is listed twice");
    }
    queues.push_back({queue.name(), queue.weight() == 0 ? 1 : queue.weight(), queue.stage(),
                      queue.max_tasks()});
  }
  return queues;
}

absl::Status CheckSizes(const v1::LeaseRequest& request) {
  RETURN_IF_ERROR(CheckText(request.worker_id(), model::kWorkerIdBytesMax, {"worker_id"}));
  RETURN_IF_ERROR(CheckText(request.worker_name(), model::kWorkerNameBytesMax, {"worker_name"}));
  RETURN_IF_ERROR(CheckNumber(request.max_tasks(), {1, model::kTasksPerCallMax}, {"max_tasks"}));
  RETURN_IF_ERROR(CheckNumber(request.max_bytes(), {0, model::kLeaseBytesMax}, {"max_bytes"}));
  if (request.worker_id().empty() && !request.request_id().empty()) {
    return InvalidField({"request_id"},
                        "needs a worker_id, or else two callers with the same id would get each "
                        "other's tasks: give both or neither");
  }
  RETURN_IF_ERROR(
      CheckText(request.client_version(), kClientVersionBytesMax, {"client_version"}));
  RETURN_IF_ERROR(
      CheckNumber(request.concurrency(), {0, kConcurrencyMax}, {"concurrency"}));
  return CheckText(request.request_id(), model::kRequestIdBytesMax, {"request_id"});
}

void WriteTask(model::LeasedTask* task, v1::LeasedTask* wire) {
  wire->set_task_id(model::FormatTaskId(task->token.task));
  wire->set_lease_token(model::EncodeLeaseToken(task->token));
  wire->set_queue(task->queue);
  wire->set_payload(std::move(task->payload));
  wire->set_content_type(std::move(task->content_type));
  for (auto& [key, value] : task->headers) {
    (*wire->mutable_headers())[std::move(key)] = std::move(value);
  }
  wire->set_key(std::move(task->key));
  wire->set_priority(task->priority);
  wire->set_attempt(task->token.attempt);
  wire->set_max_attempts(task->max_attempts);
  WriteTime(task->create_time, wire->mutable_create_time());
  WriteTime(task->schedule_time, wire->mutable_schedule_time());
  wire->set_stage(std::move(task->stage));
  if (task->version > 0) wire->set_version(task->version);
  if (task->planned_time) WriteTime(*task->planned_time, wire->mutable_planned_time());
  if (task->last_error) WriteError(&*task->last_error, wire->mutable_last_error());
  if (task->last_progress) WriteProgress(&*task->last_progress, wire->mutable_last_progress());
  task->headers.clear();
}

}  // namespace

absl::StatusOr<broker::LeaseCall> ReadLease(v1::LeaseRequest* request) {
  broker::LeaseCall call;
  ASSIGN_OR_RETURN(call.queues, ReadQueues(*request));
  ASSIGN_OR_RETURN(call.strict_order, ReadEnum(request->queue_order(), {"queue_order"}));
  RETURN_IF_ERROR(CheckSizes(*request));
  if (request->has_wait()) {
    ASSIGN_OR_RETURN(call.wait, ReadDuration(request->wait(), kWaitRange, {"wait"}));
  }
  if (request->has_lease_duration()) {
    ASSIGN_OR_RETURN(call.lease_duration,
                     ReadDuration(request->lease_duration(), kLeaseRange, {"lease_duration"}));
  }
  call.worker_id = std::move(*request->mutable_worker_id());
  call.worker_name = std::move(*request->mutable_worker_name());
  call.client_version = std::move(*request->mutable_client_version());
  call.concurrency = request->concurrency();
  call.max_tasks = request->max_tasks();
  call.max_bytes = request->max_bytes() == 0 ? model::kLeaseBytesMax : request->max_bytes();
  call.request_id = std::move(*request->mutable_request_id());
  return call;
}

void WriteLease(broker::LeaseAnswer* answer, v1::LeaseResponse* response) {
  response->mutable_tasks()->Reserve(static_cast<int>(answer->tasks.size()));
  for (model::LeasedTask& task : answer->tasks) WriteTask(&task, response->add_tasks());
  if (!answer->tasks.empty()) {
    WriteDuration(answer->lease_remaining, response->mutable_lease_remaining());
  }
  for (const std::string& queue : answer->paused_queues) response->add_paused_queues(queue);
  if (answer->command != model::WorkerCommand::kRun) {
    response->set_command(ToWire(answer->command));
  }
}

}  // namespace skiplane::rpc
