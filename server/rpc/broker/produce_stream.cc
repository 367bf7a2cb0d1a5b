#include "server/rpc/broker/produce_stream.h"

#include <utility>

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_enqueue.h"
#include "server/rpc/broker/convert_stream.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/permit.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kEnqueues = "enqueues";

}  // namespace

Outgoing ProduceStream::TakeOutgoing() {
  Outgoing outgoing;
  outgoing.bytes = answers_.Take(model::kStreamMessageBytesMax);
  if (std::exchange(says_draining_, false)) {
    v1::ProduceResponse message;
    message.set_draining(true);
    message.AppendToString(&outgoing.bytes);
  }
  return outgoing;
}

absl::StatusOr<broker::EnqueueCall> ProduceStream::Read(v1::EnqueueRequest* request) {
  ASSIGN_OR_RETURN(broker::EnqueueCall call, ReadEnqueue(request));
  RETURN_IF_ERROR(Permit(grants(), &call));
  NameCaller(*this, call);
  return call;
}

absl::Status ProduceStream::OnMessage(const grpc::ByteBuffer& bytes,
                                      absl::StatusOr<HoldPtr> hold) {
  v1::ProduceRequest request;
  RETURN_IF_ERROR(ParseMessage(bytes, &request));
  RETURN_IF_ERROR(CheckCount(request.enqueues_size(), {0, model::kTasksPerCallMax}, {kEnqueues}));
  for (int i = 0; i < request.enqueues_size(); ++i) {
    RETURN_IF_ERROR(CheckNext(request.enqueues(i).number(),
                              {"number", kEnqueues, static_cast<size_t>(i)}, &last_number_));
  }
  Update([&] { AddUnanswered(request.enqueues_size()); });
  for (v1::ProduceEnqueue& enqueue : *request.mutable_enqueues()) {
    const int64_t number = enqueue.number();
    absl::StatusOr<broker::EnqueueCall> call =
        hold.ok() ? Read(enqueue.mutable_request()) : hold.status();
    if (!call.ok()) {
      Answer(number, call.status());
      continue;
    }
    broker_.Enqueue(*std::move(call),
                    [this, number, held = *hold](
                        absl::StatusOr<std::vector<broker::EnqueueResult>> results) mutable {
                      held.reset();  // before the stream may go
                      Answer(number, std::move(results));
                    });
  }
  return absl::OkStatus();
}

void ProduceStream::Answer(int64_t number,
                           absl::StatusOr<std::vector<broker::EnqueueResult>> results) {
  thread_local v1::ProduceResponse message;  // keeps its memory for the next one
  message.Clear();
  v1::ProduceResult* const result = message.add_results();
  result->set_number(number);
  if (results.ok()) {
    WriteEnqueue(&*results, result->mutable_response());
  } else {
    WriteStreamRefusal(results.status(), result->mutable_refusal());
  }
  Update([&] {
    answers_.Add(message);
    AddUnanswered(-1);
  });
}

}  // namespace skiplane::rpc
