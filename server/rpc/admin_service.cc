#include "server/rpc/admin_service.h"

#include <string>
#include <utility>
#include <vector>

#include "server/rpc/call_wire.h"
#include "server/rpc/convert_admin.h"
#include "server/rpc/convert_queue.h"
#include "server/rpc/page_token.h"

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

// One queue more than the page holds was asked for: it tells whether there is a next page.
void ReplyWithPage(UnaryCall* call, size_t limit, std::vector<model::Queue> queues) {
  v1::ListQueuesResponse response;
  if (queues.size() > limit) {
    queues.resize(limit);
    response.set_next_page_token(EncodePageToken(queues.back().name));
  }
  for (const model::Queue& queue : queues) WriteQueue(queue, response.add_queues());
  call->Reply(response);
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
  const int limit = read->limit;
  broker_.ListQueues(std::move(read->after), limit + 1,
                     [call, limit](absl::StatusOr<std::vector<model::Queue>> queues) {
                       if (!queues.ok()) {
                         call->Refuse(queues.status());
                         return;
                       }
                       ReplyWithPage(call, static_cast<size_t>(limit), *std::move(queues));
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
