#include <string>
#include <utility>
#include <vector>

#include "server/rpc/admin/admin_service.h"
#include "server/rpc/admin/convert_operator.h"
#include "server/rpc/broker/convert_task.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/list_token.h"

namespace skiplane::rpc {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// For the calls whose answer is the task as it is now.
template <typename Response>
broker::Done<model::TaskView> ReplyWithTask(UnaryCall* call) {
  return [call](absl::StatusOr<model::TaskView> task) {
    Deliver(call, std::move(task), &WriteChangedTask<Response>);
  };
}

void WriteNothing(model::TaskView*, v1::DeleteTaskResponse*) {}

void WritePage(broker::TaskPage* page, const std::string& scope, v1::ListTasksResponse* response) {
  for (model::TaskView& task : page->tasks.items) WriteTask(&task, response->add_tasks());
  if (!page->next.has_value()) return;
  const broker::TaskCursor& next = *page->next;
  response->set_next_page_token(WriteListToken(
      {std::to_string(next.lane), std::to_string(next.place), std::to_string(next.after)}, scope));
}

}  // namespace

ServerUnaryReactor* AdminService::GetTask(CallbackServerContext* context,
                                          const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/GetTask", {context, reply});
  auto read = ReadCall(*call, *request, &ReadGetTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.GetTask(*std::move(read), [call](absl::StatusOr<broker::TaskDetails> details) {
    if (details.ok()) call->Keep(details->attempts.memory);
    Deliver(call, std::move(details), &WriteGetTask);
  });
  return call;
}

ServerUnaryReactor* AdminService::ListTasks(CallbackServerContext* context,
                                            const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListTasks", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListTasks);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ListTasks(*std::move(read), [call, scope = ScopeOf<v1::ListTasksRequest>(*request)](
                                            absl::StatusOr<broker::TaskPage> page) {
    if (!page.ok()) {
      call->Refuse(page.status());
      return;
    }
    call->Keep(page->tasks.memory);
    v1::ListTasksResponse response;
    WritePage(&*page, scope, &response);
    call->Reply(response);
  });
  return call;
}

ServerUnaryReactor* AdminService::ExplainTask(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ExplainTask", {context, reply});
  auto read = ReadCall(*call, *request, &ReadExplainTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ExplainTask(*read, [call](absl::StatusOr<broker::Explanation> why) {
    Deliver(call, std::move(why), &WriteExplainTask);
  });
  return call;
}

ServerUnaryReactor* AdminService::PrioritizeTask(CallbackServerContext* context,
                                                 const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/PrioritizeTask", {context, reply});
  auto read = ReadChange(*call, *request, "PrioritizeTask", &ReadPrioritizeTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWithTask<v1::PrioritizeTaskResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::RescheduleTask(CallbackServerContext* context,
                                                 const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/RescheduleTask", {context, reply});
  auto read = ReadChange(*call, *request, "RescheduleTask", &ReadRescheduleTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWithTask<v1::RescheduleTaskResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::RetryTask(CallbackServerContext* context,
                                            const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/RetryTask", {context, reply});
  auto read = ReadChange(*call, *request, "RetryTask", &ReadRetryTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWithTask<v1::RetryTaskResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::CancelTask(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/CancelTask", {context, reply});
  auto read = ReadChange(*call, *request, "CancelTask", &ReadCancelTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWithTask<v1::CancelTaskResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::PauseTask(CallbackServerContext* context,
                                            const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/PauseTask", {context, reply});
  auto read = ReadChange(*call, *request, "PauseTask", &ReadPauseTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWithTask<v1::PauseTaskResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::ResumeTask(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ResumeTask", {context, reply});
  auto read = ReadChange(*call, *request, "ResumeTask", &ReadResumeTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWithTask<v1::ResumeTaskResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::TriggerTask(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/TriggerTask", {context, reply});
  auto read = ReadChange(*call, *request, "TriggerTask", &ReadTriggerTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWithTask<v1::TriggerTaskResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::DeleteTask(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/DeleteTask", {context, reply});
  auto read = ReadChange(*call, *request, "DeleteTask", &ReadDeleteTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), [call](absl::StatusOr<model::TaskView> task) {
    Deliver(call, std::move(task), &WriteNothing);
  });
  return call;
}

ServerUnaryReactor* AdminService::PreviewSchedule(CallbackServerContext* context,
                                                  const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/PreviewSchedule", {context, reply});
  auto read = ReadCall(*call, *request, &ReadPreviewSchedule);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.PreviewSchedule(*std::move(read),
                            [call](absl::StatusOr<std::vector<absl::Time>> times) {
                              Deliver(call, std::move(times), &WritePreviewSchedule);
                            });
  return call;
}

}  // namespace skiplane::rpc
