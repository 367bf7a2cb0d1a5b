#include <string>
#include <utility>

#include "server/rpc/admin/admin_service.h"
#include "server/rpc/admin/await_call.h"
#include "server/rpc/admin/convert_copy.h"
#include "server/rpc/admin/convert_operator.h"
#include "server/rpc/broker/convert_task.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/list_token.h"
#include "server/rpc/call/reply.h"

namespace skiplane::rpc {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

void WriteNothing(model::TaskView*, v1::DeleteTaskResponse*) {}

void WritePage(broker::TaskPage* page, const std::string& scope, v1::ListTasksResponse* response) {
  for (model::TaskView& task : page->tasks.items) WriteTask(&task, response->add_tasks());
  if (!page->next.has_value()) return;
  response->set_next_page_token(WriteListToken({std::to_string(*page->next)}, scope));
}

}  // namespace

ServerUnaryReactor* AdminService::GetTask(CallbackServerContext* context,
                                          const ByteBuffer* request, ByteBuffer* reply) {
  auto* call =
      new AwaitCall(scope_, "skiplane.v1.AdminService/GetTask", {context, reply}, operator_);
  auto read = ReadCall(*call, *request, &ReadGetTask);
  if (!read.ok()) return call->Refuse(read.status());
  call->Begin(*std::move(read));
  return call;
}

ServerUnaryReactor* AdminService::ListTasks(CallbackServerContext* context,
                                            const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListTasks", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListTasks);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ListTasks(
      *std::move(read), ReplyWithList(call, &broker::TaskPage::tasks,
                                      ScopeOf<v1::ListTasksRequest>(*request), &WritePage));
  return call;
}

ServerUnaryReactor* AdminService::ExplainTask(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ExplainTask", {context, reply});
  auto read = ReadCall(*call, *request, &ReadExplainTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ExplainTask(*std::move(read), ReplyWith(call, &WriteExplainTask));
  return call;
}

ServerUnaryReactor* AdminService::PrioritizeTask(CallbackServerContext* context,
                                                 const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/PrioritizeTask", {context, reply});
  auto read = ReadChange(*call, *request, "PrioritizeTask", &ReadPrioritizeTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read),
                       ReplyWith(call, &WriteChangedTask<v1::PrioritizeTaskResponse>));
  return call;
}

ServerUnaryReactor* AdminService::RescheduleTask(CallbackServerContext* context,
                                                 const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/RescheduleTask", {context, reply});
  auto read = ReadChange(*call, *request, "RescheduleTask", &ReadRescheduleTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read),
                       ReplyWith(call, &WriteChangedTask<v1::RescheduleTaskResponse>));
  return call;
}

ServerUnaryReactor* AdminService::RetryTask(CallbackServerContext* context,
                                            const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/RetryTask", {context, reply});
  auto read = ReadChange(*call, *request, "RetryTask", &ReadRetryTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWith(call, &WriteChangedTask<v1::RetryTaskResponse>));
  return call;
}

ServerUnaryReactor* AdminService::CopyTask(CallbackServerContext* context,
                                           const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/CopyTask", {context, reply});
  auto read = ReadChange(*call, *request, "CopyTask", &ReadCopyTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.CopyTask(*std::move(read), ReplyWith(call, &WriteChangedTask<v1::CopyTaskResponse>));
  return call;
}

ServerUnaryReactor* AdminService::MoveTask(CallbackServerContext* context,
                                           const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/MoveTask", {context, reply});
  auto read = ReadChange(*call, *request, "MoveTask", &ReadMoveTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.CopyTask(*std::move(read), ReplyWith(call, &WriteChangedTask<v1::MoveTaskResponse>));
  return call;
}

ServerUnaryReactor* AdminService::ListSchedules(CallbackServerContext* context,
                                                const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListSchedules", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListSchedules);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ListSchedules(
      *std::move(read), ReplyWithList(call, &broker::SchedulePage::tasks,
                                      ScopeOf<v1::ListSchedulesRequest>(*request),
                                      &WriteSchedules));
  return call;
}

ServerUnaryReactor* AdminService::CancelTask(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/CancelTask", {context, reply});
  auto read = ReadChange(*call, *request, "CancelTask", &ReadCancelTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read),
                       ReplyWith(call, &WriteChangedTask<v1::CancelTaskResponse>));
  return call;
}

ServerUnaryReactor* AdminService::PauseTask(CallbackServerContext* context,
                                            const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/PauseTask", {context, reply});
  auto read = ReadChange(*call, *request, "PauseTask", &ReadPauseTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWith(call, &WriteChangedTask<v1::PauseTaskResponse>));
  return call;
}

ServerUnaryReactor* AdminService::ResumeTask(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ResumeTask", {context, reply});
  auto read = ReadChange(*call, *request, "ResumeTask", &ReadResumeTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read),
                       ReplyWith(call, &WriteChangedTask<v1::ResumeTaskResponse>));
  return call;
}

ServerUnaryReactor* AdminService::TriggerTask(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/TriggerTask", {context, reply});
  auto read = ReadChange(*call, *request, "TriggerTask", &ReadTriggerTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read),
                       ReplyWith(call, &WriteChangedTask<v1::TriggerTaskResponse>));
  return call;
}

ServerUnaryReactor* AdminService::DeleteTask(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/DeleteTask", {context, reply});
  auto read = ReadChange(*call, *request, "DeleteTask", &ReadDeleteTask);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ChangeTask(*std::move(read), ReplyWith(call, &WriteNothing));
  return call;
}

ServerUnaryReactor* AdminService::PreviewSchedule(CallbackServerContext* context,
                                                  const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/PreviewSchedule", {context, reply});
  auto read = ReadCall(*call, *request, &ReadPreviewSchedule);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.PreviewSchedule(*std::move(read), ReplyWith(call, &WritePreviewSchedule));
  return call;
}

}  // namespace skiplane::rpc
