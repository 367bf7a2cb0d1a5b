#include "server/rpc/call/permit.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"

namespace skiplane::rpc {

using access::Grants;
using access::Verb;

namespace {

absl::Status Denied(Verb verb, absl::string_view field) {
  return base::RefuseField(absl::StatusCode::kPermissionDenied, "ACCESS_DENIED", field,
                           absl::StrCat("there is no such queue, task or operation, or you may not "
                                        "`", access::VerbName(verb),
                                        "` there: ask the operator for a rule"));
}

absl::Status CheckPayload(const Grants& grants, absl::string_view queue) {
  if (grants.Allows(Verb::kReadPayload, queue)) return absl::OkStatus();
  return base::RefuseField(absl::StatusCode::kPermissionDenied, "ACCESS_DENIED", "view",
                           "payloads and results need `read_payload` on the queue: ask the "
                           "operator for a rule, or take TASK_VIEW_BASIC");
}

// What a filter matches tells the same as what is shown: counts answer guesses.
absl::Status CheckFilter(const Grants& grants, const model::TaskFilter& filter,
                         absl::string_view queue) {
  if (!filter.payload_text.empty() && !grants.Allows(Verb::kReadPayload, queue)) {
    return base::RefuseField(absl::StatusCode::kPermissionDenied, "ACCESS_DENIED",
                             "filter.payload_text",
                             "payloads need `read_payload` on the queue: ask the operator for a "
                             "rule");
  }
  if (!filter.headers.empty() && !grants.Allows(Verb::kReadPayload, queue)) {
    return base::RefuseField(absl::StatusCode::kPermissionDenied, "ACCESS_DENIED",
                             "filter.headers",
                             "headers need `read_payload` on the queue: ask the operator for a "
                             "rule");
  }
  if (!filter.key_prefix.empty() && !grants.Allows(Verb::kRead, queue)) {
    return base::RefuseField(absl::StatusCode::kPermissionDenied, "ACCESS_DENIED",
                             "filter.key_prefix",
                             "keys need `read` on the queue: ask the operator for a rule");
  }
  return absl::OkStatus();
}

// For what shows all queues together.
absl::Status CheckAll(const Grants& grants, Verb verb, absl::string_view what) {
  if (grants.AllowsAll(verb)) return absl::OkStatus();
  return base::Refuse(absl::StatusCode::kPermissionDenied, "ACCESS_DENIED",
                      absl::StrCat(what, "; that needs `", access::VerbName(verb),
                                   "` on all queues (*)"));
}

}  // namespace

absl::Status CheckQueue(const Grants& grants, Verb verb, absl::string_view queue,
                        absl::string_view field) {
  return grants.Allows(verb, queue) ? absl::OkStatus() : Denied(verb, field);
}

broker::Permit PermitFor(const Grants& grants, Verb verb, std::string field) {
  if (grants.AllowsAll(verb)) return nullptr;
  return [grants, verb, field = std::move(field)](absl::string_view queue) {
    return CheckQueue(grants, verb, queue, field);
  };
}

absl::Status Permit(const Grants& grants, broker::EnqueueCall* call) {
  if (!call->has_several_queues) {
    return CheckQueue(grants, Verb::kEnqueue, call->queue, call->queue_field);
  }
  if (grants.AllowsAll(Verb::kEnqueue)) return absl::OkStatus();
  for (size_t i = 0; i < call->tasks.size(); ++i) {
    const std::string& own = call->tasks[i].queue;
    RETURN_IF_ERROR(CheckQueue(grants, Verb::kEnqueue, own.empty() ? call->queue : own,
                               own.empty() ? "queue" : absl::StrCat("tasks[", i, "].queue")));
  }
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::LeaseCall* call) {
  if (grants.AllowsAll(Verb::kLease)) return absl::OkStatus();
  for (size_t i = 0; i < call->queues.size(); ++i) {
    RETURN_IF_ERROR(CheckQueue(grants, Verb::kLease, call->queues[i].name,
                               absl::StrCat("queues[", i, "].name")));
  }
  return absl::OkStatus();
}

absl::Status Permit(const Grants&, broker::HeartbeatCall*) { return absl::OkStatus(); }

absl::Status Permit(const Grants& grants, broker::CreateQueueCall* call) {
  return CheckQueue(grants, Verb::kAdmin, call->name, "name");
}

absl::Status Permit(const Grants& grants, broker::DeleteQueueCall* call) {
  return CheckQueue(grants, Verb::kAdmin, call->name, "name");
}

absl::Status Permit(const Grants& grants, broker::UpdateQueueCall* call) {
  return CheckQueue(grants, Verb::kAdmin, call->name, "name");
}

absl::Status Permit(const Grants& grants, broker::PauseQueueCall* call) {
  return CheckQueue(grants, Verb::kAdmin, call->name, "name");
}

absl::Status Permit(const Grants& grants, broker::GetQueueCall* call) {
  return CheckQueue(grants, Verb::kRead, call->name, "name");
}

absl::Status Permit(const Grants& grants, broker::ListQueuesCall* call) {
  call->permit = PermitFor(grants, Verb::kRead, "");
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::WatchCall* call) {
  for (size_t i = 0; i < call->queues.size(); ++i) {
    RETURN_IF_ERROR(
        CheckQueue(grants, Verb::kRead, call->queues[i], absl::StrCat("queues[", i, "]")));
  }
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::GetTaskCall* call) {
  const char* const field = call->key.empty() ? "task_id" : "queue";
  call->permit = PermitFor(grants, Verb::kRead, field);
  call->payload_permit = PermitFor(grants, Verb::kReadPayload, field);
  if (!call->with_payload || call->payload_permit == nullptr) return absl::OkStatus();
  call->permit = [grants, field](absl::string_view queue) {
    RETURN_IF_ERROR(CheckQueue(grants, Verb::kRead, queue, field));
    return CheckPayload(grants, queue);
  };
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::ListTasksCall* call) {
  const auto check = [&](const std::string& queue, absl::string_view field) -> absl::Status {
    RETURN_IF_ERROR(CheckQueue(grants, Verb::kRead, queue, field));
    RETURN_IF_ERROR(CheckFilter(grants, call->filter, queue));
    return call->with_payload ? CheckPayload(grants, queue) : absl::OkStatus();
  };
  if (call->queues.empty()) return check(call->filter.queue, "filter.queue");
  for (size_t i = 0; i < call->queues.size(); ++i) {
    RETURN_IF_ERROR(check(call->queues[i], absl::StrCat("queues[", i, "]")));
  }
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::ExplainTaskCall* call) {
  call->permit = PermitFor(grants, Verb::kRead, "task_id");
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::ChangeTaskCall* call) {
  call->permit = PermitFor(grants, Verb::kOperate, "task_id");
  if (!call->content.has_value() || grants.AllowsAll(Verb::kEnqueue)) return absl::OkStatus();
  call->permit = [grants](absl::string_view queue) {
    RETURN_IF_ERROR(CheckQueue(grants, Verb::kOperate, queue, "task_id"));
    return CheckQueue(grants, Verb::kEnqueue, queue, "new_content");
  };
  return absl::OkStatus();
}

// Who may not read a payload must not have it where it may read.
absl::Status Permit(const Grants& grants, broker::CopyTaskCall* call) {
  const char* const field = call->queue.empty() ? "task_id" : "queue";
  call->target_permit = PermitFor(grants, Verb::kEnqueue, field);
  call->permit = PermitFor(grants, Verb::kOperate, "task_id");
  if (call->content.has_value() || grants.AllowsAll(Verb::kReadPayload)) return absl::OkStatus();
  call->permit = [grants](absl::string_view queue) {
    RETURN_IF_ERROR(CheckQueue(grants, Verb::kOperate, queue, "task_id"));
    return CheckQueue(grants, Verb::kReadPayload, queue, "task_id");
  };
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::ListSchedulesCall* call) {
  if (!call->queue.empty()) return CheckQueue(grants, Verb::kRead, call->queue, "queue");
  call->permit = PermitFor(grants, Verb::kRead, "");
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::PreviewCall* call) {
  call->permit = PermitFor(grants, Verb::kRead, "task_id");
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::StartBulkCall* call) {
  RETURN_IF_ERROR(CheckQueue(grants, Verb::kOperate, call->filter.queue, call->queue_field));
  return CheckFilter(grants, call->filter, call->filter.queue);
}

absl::Status Permit(const Grants& grants, broker::GetBulkCall* call) {
  call->permit = PermitFor(grants, Verb::kRead, "operation_id");
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::StopBulkCall* call) {
  call->permit = PermitFor(grants, Verb::kOperate, "operation_id");
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::ListBulksCall* call) {
  call->permit = PermitFor(grants, Verb::kRead, "");
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::ListErrorsCall* call) {
  if (!call->queue.empty()) return CheckQueue(grants, Verb::kRead, call->queue, "queue");
  call->permit = PermitFor(grants, Verb::kRead, "");
  return absl::OkStatus();
}

absl::Status Permit(const Grants& grants, broker::AnnotateErrorCall* call) {
  return CheckQueue(grants, Verb::kOperate, call->queue, "queue");
}

absl::Status Permit(const Grants& grants, broker::StatisticsCall* call) {
  return CheckQueue(grants, Verb::kRead, call->queue, "queue");
}

absl::Status Permit(const Grants& grants, broker::MinutesCall* call) {
  return CheckQueue(grants, Verb::kRead, call->queue, "queue");
}

absl::Status Permit(const Grants& grants, broker::ListBrokersCall*) {
  return CheckAll(grants, Verb::kRead, "brokers serve all queues");
}

absl::Status Permit(const Grants& grants, broker::ServerInfoCall*) {
  return CheckAll(grants, Verb::kRead, "a broker and its database serve all queues");
}

absl::Status Permit(const Grants& grants, broker::ListWorkersCall*) {
  return CheckAll(grants, Verb::kRead, "the workers of all queues are listed together");
}

// Nobody knows which queues a worker will lease from next.
absl::Status Permit(const Grants& grants, broker::CommandWorkerCall*) {
  return CheckAll(grants, Verb::kAdmin, "a worker may lease from all queues");
}

absl::Status Permit(const Grants& grants, broker::ListAuditCall* call) {
  if (!call->queue.empty()) return CheckQueue(grants, Verb::kRead, call->queue, "queue");
  return CheckAll(grants, Verb::kRead, "records without a queue are those of all queues: name one");
}

}  // namespace skiplane::rpc
