#include <functional>
#include <string>
#include <utility>

#include "server/rpc/admin/admin_service.h"
#include "server/rpc/admin/convert_bulk.h"
#include "server/rpc/admin/hide_filter.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/list_token.h"
#include "server/rpc/call/reply.h"

namespace skiplane::rpc {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

void WriteBulks(model::Page<model::BulkOperation>* page,
                v1::ListBulkOperationsResponse* response) {
  if (page->has_more) {
    const model::BulkOperation& last = page->items.back();
    response->set_next_page_token(
        WriteListToken({std::to_string(absl::ToUnixMicros(last.create_time)),
                        WriteOperationId(last.id)},
                       TokenScope(v1::ListBulkOperationsRequest())));
  }
  for (const model::BulkOperation& one : page->items) WriteBulk(one, response->add_operations());
}

template <typename Response>
broker::Callback<model::BulkOperation> ReplyWithOperation(UnaryCall* call) {
  return WithHiddenFilters(call, ReplyWith(call, &WriteOperation<Response>));
}

}  // namespace

ServerUnaryReactor* AdminService::StartBulkOperation(CallbackServerContext* context,
                                                     const ByteBuffer* request, ByteBuffer* reply) {
  auto* call =
      new UnaryCall(scope_, "skiplane.v1.AdminService/StartBulkOperation", {context, reply});
  auto read = ReadChange(*call, *request, "StartBulkOperation", &ReadStartBulk);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.StartBulk(*std::move(read), ReplyWithOperation<v1::StartBulkOperationResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::DeleteQueue(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/DeleteQueue", {context, reply});
  auto read = ReadChange(*call, *request, "DeleteQueue", &ReadDeleteQueue);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.DeleteQueue(*std::move(read), ReplyWithOperation<v1::DeleteQueueResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::RetryErrorGroup(CallbackServerContext* context,
                                                  const ByteBuffer* request, ByteBuffer* reply) {
  auto* call =
      new UnaryCall(scope_, "skiplane.v1.AdminService/RetryErrorGroup", {context, reply});
  auto read = ReadChange(*call, *request, "RetryErrorGroup", &ReadRetryGroup);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.StartBulk(*std::move(read), ReplyWithOperation<v1::RetryErrorGroupResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::GetBulkOperation(CallbackServerContext* context,
                                                   const ByteBuffer* request, ByteBuffer* reply) {
  auto* call =
      new UnaryCall(scope_, "skiplane.v1.AdminService/GetBulkOperation", {context, reply});
  auto read = ReadCall(*call, *request, &ReadGetBulk);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.GetBulk(*std::move(read), ReplyWithOperation<v1::GetBulkOperationResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::StopBulkOperation(CallbackServerContext* context,
                                                    const ByteBuffer* request, ByteBuffer* reply) {
  auto* call =
      new UnaryCall(scope_, "skiplane.v1.AdminService/StopBulkOperation", {context, reply});
  auto read = ReadChange(*call, *request, "StopBulkOperation", &ReadStopBulk);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.StopBulk(*std::move(read), ReplyWithOperation<v1::StopBulkOperationResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::ListBulkOperations(CallbackServerContext* context,
                                                     const ByteBuffer* request, ByteBuffer* reply) {
  auto* call =
      new UnaryCall(scope_, "skiplane.v1.AdminService/ListBulkOperations", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListBulks);
  if (!read.ok()) return call->Refuse(read.status());
  auto answer = ReplyWithList(call, std::identity(), &WriteBulks);
  operator_.ListBulks(*std::move(read), WithHiddenFilters(call, std::move(answer)));
  return call;
}

}  // namespace skiplane::rpc
