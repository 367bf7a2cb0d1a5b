#include "server/rpc/admin/admin_service.h"

#include <string>
#include <utility>
#include <vector>

#include "server/rpc/admin/convert_admin.h"
#include "server/rpc/admin/convert_queue.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/page_token.h"

namespace skiplane::rpc {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// For the calls whose answer is the queue as it is now.
template <typename Response>
broker::Done<model::Queue> ReplyWithQueue(UnaryCall* call) {
  return [call](absl::StatusOr<model::Queue> queue) {
    Deliver(call, std::move(queue), &WriteChangedQueue<Response>);
  };
}

void WriteQueues(model::Page<model::Queue>* page, v1::ListQueuesResponse* response) {
  if (page->has_more) response->set_next_page_token(EncodePageToken(page->items.back().name));
  for (const model::Queue& queue : page->items) WriteQueue(queue, response->add_queues());
}

}  // namespace

ServerUnaryReactor* AdminService::CreateQueue(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/CreateQueue", {context, reply});
  auto read = ReadChange(*call, *request, "CreateQueue", &ReadCreateQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.CreateQueue(*std::move(read), ReplyWithQueue<v1::CreateQueueResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::GetQueue(CallbackServerContext* context,
                                           const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/GetQueue", {context, reply});
  auto read = ReadCall(*call, *request, &ReadGetQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.GetQueue(*std::move(read), [call](absl::StatusOr<broker::QueueWithCounts> answer) {
    Deliver(call, std::move(answer), &WriteGetQueue);
  });
  return call;
}

ServerUnaryReactor* AdminService::ListQueues(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListQueues", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListQueues);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.ListQueues(std::move(read->after), read->limit,
                     [call](absl::StatusOr<model::Page<model::Queue>> page) {
                       if (page.ok()) call->Keep(page->memory);
                       Deliver(call, std::move(page), &WriteQueues);
                     });
  return call;
}

ServerUnaryReactor* AdminService::UpdateQueue(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/UpdateQueue", {context, reply});
  auto read = ReadChange(*call, *request, "UpdateQueue", &ReadUpdateQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.UpdateQueue(*std::move(read), ReplyWithQueue<v1::UpdateQueueResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::PauseQueue(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/PauseQueue", {context, reply});
  auto read = ReadChange(*call, *request, "PauseQueue", &ReadPauseQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.PauseQueue(*std::move(read), ReplyWithQueue<v1::PauseQueueResponse>(call));
  return call;
}

ServerUnaryReactor* AdminService::ResumeQueue(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ResumeQueue", {context, reply});
  auto read = ReadChange(*call, *request, "ResumeQueue", &ReadResumeQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.PauseQueue(*std::move(read), ReplyWithQueue<v1::ResumeQueueResponse>(call));
  return call;
}

}  // namespace skiplane::rpc
