#include "client/src/convert_task.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/src/convert_enum.h"
#include "client/src/convert_new_task.h"
#include "client/src/convert_time.h"

namespace skiplane::internal {
namespace {

TaskError ErrorOf(const v1::TaskError& proto) {
  return {.type = proto.type(), .text = proto.text(), .fingerprint = proto.fingerprint()};
}

TaskProgress ProgressOf(const v1::TaskProgress& proto) {
  return {.fraction = proto.fraction(), .message = proto.message()};
}

LeasedTask MoveLeased(v1::LeasedTask& proto) {
  LeasedTask task;
  task.task_id = std::move(*proto.mutable_task_id());
  task.lease_token = std::move(*proto.mutable_lease_token());
  task.queue = std::move(*proto.mutable_queue());
  task.payload = std::move(*proto.mutable_payload());
  task.content_type = std::move(*proto.mutable_content_type());
  for (auto& [key, value] : *proto.mutable_headers()) task.headers[key] = std::move(value);
  task.key = std::move(*proto.mutable_key());
  task.priority = proto.priority();
  task.attempt = proto.attempt();
  task.max_attempts = proto.max_attempts();
  task.create_time = FromProto(proto.create_time());
  task.schedule_time = FromProto(proto.schedule_time());
  task.stage = std::move(*proto.mutable_stage());
  if (proto.has_version()) task.version = proto.version();
  if (proto.has_planned_time()) task.planned_time = FromProto(proto.planned_time());
  if (proto.has_last_error()) task.last_error = ErrorOf(proto.last_error());
  if (proto.has_last_progress()) task.last_progress = ProgressOf(proto.last_progress());
  return task;
}

void MoveProgress(TaskProgress& progress, v1::TaskProgress* proto) {
  proto->set_fraction(progress.fraction);
  proto->set_message(std::move(progress.message));
}

}  // namespace

absl::StatusOr<v1::EnqueueRequest> ToProto(EnqueueCall call) {
  v1::EnqueueRequest request;
  request.set_queue(std::move(call.queue));
  request.set_request_id(std::move(call.request_id));
  for (NewTask& task : call.tasks) {
    const std::string at = absl::StrCat("tasks[", request.tasks_size(), "]");
    const absl::Status status = MoveTask(task, at, request.add_tasks());
    if (!status.ok()) return status;
  }
  return request;
}

EnqueueResult FromProto(const v1::EnqueueResult& result) {
  return {.task_id = result.task_id(),
          .existing = result.outcome() == v1::ENQUEUE_OUTCOME_EXISTING,
          .outcome = FromProto(result.outcome()),
          .state = FromProto(result.state())};
}

std::vector<EnqueueResult> FromProto(const v1::EnqueueResponse& response) {
  std::vector<EnqueueResult> results;
  for (const v1::EnqueueResult& result : response.results()) results.push_back(FromProto(result));
  return results;
}

v1::LeaseRequest ToProto(const LeaseCall& call) {
  v1::LeaseRequest request;
  for (const LeaseQueue& queue : call.queues) {
    v1::LeaseQueue* proto = request.add_queues();
    proto->set_name(queue.name);
    proto->set_weight(queue.weight);
    proto->set_stage(queue.stage);
    proto->set_max_tasks(queue.max_tasks);
  }
  request.set_queue_order(call.strict_order ? v1::QUEUE_ORDER_STRICT : v1::QUEUE_ORDER_WEIGHTED);
  request.set_worker_id(call.worker_id);
  request.set_worker_name(call.worker_name);
  request.set_client_version(call.client_version);
  request.set_concurrency(call.concurrency);
  request.set_max_tasks(call.max_tasks);
  request.set_max_bytes(call.max_bytes);
  ToProto(call.wait, request.mutable_wait());
  if (call.lease_duration) ToProto(*call.lease_duration, request.mutable_lease_duration());
  request.set_request_id(call.request_id);
  return request;
}

v1::WorkHello ToHello(const LeaseCall& call) {
  v1::LeaseRequest request = ToProto(call);
  v1::WorkHello hello;
  hello.set_worker_id(std::move(*request.mutable_worker_id()));
  hello.set_worker_name(std::move(*request.mutable_worker_name()));
  hello.set_client_version(std::move(*request.mutable_client_version()));
  hello.set_concurrency(request.concurrency());
  hello.mutable_queues()->Swap(request.mutable_queues());
  hello.set_queue_order(request.queue_order());
  if (request.has_lease_duration()) *hello.mutable_lease_duration() = request.lease_duration();
  hello.set_max_bytes(request.max_bytes());
  return hello;
}

LeaseAnswer FromProto(v1::LeaseResponse response) {
  LeaseAnswer answer;
  for (v1::LeasedTask& task : *response.mutable_tasks()) answer.tasks.push_back(MoveLeased(task));
  answer.lease_remaining = FromProto(response.lease_remaining());
  answer.paused_queues.assign(response.paused_queues().begin(), response.paused_queues().end());
  answer.command = FromProto(response.command());
  return answer;
}

v1::HeartbeatRequest ToProto(HeartbeatCall call) {
  v1::HeartbeatRequest request;
  request.set_worker_id(std::move(call.worker_id));
  if (call.lease_duration) ToProto(*call.lease_duration, request.mutable_lease_duration());
  request.set_end_session(call.end_session);
  for (HeldLease& lease : call.leases) {
    v1::HeldLease* proto = request.add_leases();
    proto->set_lease_token(std::move(lease.lease_token));
    if (lease.progress) MoveProgress(*lease.progress, proto->mutable_progress());
  }
  return request;
}

HeartbeatAnswer FromProto(const v1::HeartbeatResponse& response) {
  HeartbeatAnswer answer;
  for (const v1::HeartbeatResult& result : response.results()) {
    answer.states.push_back(FromProto(result.state()));
  }
  answer.session_alive = response.session_alive();
  answer.command = FromProto(response.command());
  answer.lease_remaining = FromProto(response.lease_remaining());
  return answer;
}

Task FromProto(const v1::Task& proto) {
  Task task{.task_id = proto.task_id(),
            .queue = proto.queue(),
            .state = FromProto(proto.state()),
            .key = proto.key(),
            .priority = proto.priority(),
            .attempt_count = proto.attempt_count(),
            .max_attempts = proto.max_attempts(),
            .create_time = FromProto(proto.create_time()),
            .schedule_time = FromProto(proto.schedule_time()),
            .worker_name = proto.worker_name(),
            .worker_handle = proto.worker_handle(),
            .stage = proto.stage(),
            .rerun_pending = proto.rerun_pending(),
            .cancel_requested = proto.cancel_requested(),
            .result = proto.result()};
  if (proto.has_version()) task.version = proto.version();
  if (proto.has_lease_time()) task.lease_time = FromProto(proto.lease_time());
  if (proto.has_end_time()) task.end_time = FromProto(proto.end_time());
  if (proto.has_last_error()) task.last_error = ErrorOf(proto.last_error());
  if (proto.has_progress()) task.progress = ProgressOf(proto.progress());
  if (proto.has_last_progress()) task.last_progress = ProgressOf(proto.last_progress());
  return task;
}

}  // namespace skiplane::internal
