#include "server/rpc/admin/admin_service.h"

#include <functional>
#include <utility>

#include "server/rpc/admin/convert_admin.h"
#include "server/rpc/admin/convert_queue.h"
#include "server/rpc/admin/watch_stream.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/page_token.h"
#include "server/rpc/call/reply.h"

namespace skiplane::rpc {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

void WriteQueues(model::Page<model::Queue>* page, v1::ListQueuesResponse* response) {
  if (page->has_more) response->set_next_page_token(EncodePageToken(page->items.back().name));
  for (const model::Queue& queue : page->items) WriteQueue(queue, response->add_queues());
}

void WriteSummaries(model::Page<broker::QueueSummary>* page,
                    v1::ListQueueSummariesResponse* response) {
  if (page->has_more) {
    response->set_next_page_token(EncodePageToken(page->items.back().counted.queue.name));
  }
  for (const broker::QueueSummary& summary : page->items) {
    WriteSummary(summary, response->add_summaries());
  }
}

}  // namespace

ServerUnaryReactor* AdminService::CreateQueue(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/CreateQueue", {context, reply});
  auto read = ReadChange(*call, *request, "CreateQueue", &ReadCreateQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.CreateQueue(*std::move(read),
                      ReplyWith(call, &WriteChangedQueue<v1::CreateQueueResponse>));
  return call;
}

ServerUnaryReactor* AdminService::GetQueue(CallbackServerContext* context,
                                           const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/GetQueue", {context, reply});
  auto read = ReadCall(*call, *request, &ReadGetQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.GetQueue(*std::move(read), ReplyWith(call, &WriteGetQueue));
  return call;
}

ServerUnaryReactor* AdminService::ListQueues(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ListQueues", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListQueues);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.ListQueues(*std::move(read), ReplyWithList(call, std::identity(), &WriteQueues));
  return call;
}

ServerUnaryReactor* AdminService::ListQueueSummaries(CallbackServerContext* context,
                                                     const ByteBuffer* request,
                                                     ByteBuffer* reply) {
  auto* call =
      new UnaryCall(scope_, "skiplane.v1.AdminService/ListQueueSummaries", {context, reply});
  auto read = ReadCall(*call, *request, &ReadListSummaries);
  if (!read.ok()) return call->Refuse(read.status());
  operator_.ListSummaries(*std::move(read), ReplyWithList(call, std::identity(), &WriteSummaries));
  return call;
}

grpc::ServerWriteReactor<ByteBuffer>* AdminService::Watch(CallbackServerContext* context,
                                                          const ByteBuffer* request) {
  auto* stream = new WatchStream(scope_, streams_, context, operator_);
  stream->Begin(*request);
  return stream;
}

ServerUnaryReactor* AdminService::UpdateQueue(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/UpdateQueue", {context, reply});
  auto read = ReadChange(*call, *request, "UpdateQueue", &ReadUpdateQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.UpdateQueue(*std::move(read),
                      ReplyWith(call, &WriteChangedQueue<v1::UpdateQueueResponse>));
  return call;
}

ServerUnaryReactor* AdminService::PauseQueue(CallbackServerContext* context,
                                             const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/PauseQueue", {context, reply});
  auto read = ReadChange(*call, *request, "PauseQueue", &ReadPauseQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.PauseQueue(*std::move(read), ReplyWith(call, &WriteChangedQueue<v1::PauseQueueResponse>));
  return call;
}

ServerUnaryReactor* AdminService::ResumeQueue(CallbackServerContext* context,
                                              const ByteBuffer* request, ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/ResumeQueue", {context, reply});
  auto read = ReadChange(*call, *request, "ResumeQueue", &ReadResumeQueue);
  if (!read.ok()) return call->Refuse(read.status());
  broker_.PauseQueue(*std::move(read),
                     ReplyWith(call, &WriteChangedQueue<v1::ResumeQueueResponse>));
  return call;
}

}  // namespace skiplane::rpc
