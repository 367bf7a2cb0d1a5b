#include "server/rpc/stream/message_stream.h"

#include <utility>

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/no_room.h"
#include "server/rpc/call/status.h"

namespace skiplane::rpc {

MessageStream::MessageStream(CallScope scope, Kind kind, StreamSet& streams,
                             grpc::CallbackServerContext* context)
    : OpenStream(scope, kind, streams, context), unsent_(streams.unsent()) {}

void MessageStream::Begin() {
  const absl::Status status = Admit();
  Update([&] {
    if (!status.ok()) EndWith(status);
  });
}

void MessageStream::EndWith(absl::Status status) {
  if (is_ending_) return;
  is_ending_ = true;
  end_ = std::move(status);
}

void MessageStream::EndByDrain() {
  if (is_ending_) return;
  SayDraining();
  EndWith(StreamEndsByDrain());
}

void MessageStream::Drain() {
  Update([this] { EndByDrain(); });
}

void MessageStream::Retire() {
  Update([this] {
    if (is_ending_) return;
    SayDraining();
    EndWith(absl::OkStatus());
  });
}

void MessageStream::Update(absl::FunctionRef<void()> change) {
  Step step;
  {
    base::MutexLock lock(mutex_);
    const bool was_ending = is_ending_;
    change();
    step.ends = is_ending_ && !was_ending;
    if (step.ends) ++unanswered_;  // so that it is there for OnEnding()
    TakeStep(&step);
  }
  if (!step.IsEmpty()) Perform(std::move(step));  // else it may be gone
}

void MessageStream::TakeStep(Step* step) {
  if (is_finished_) return;
  if (!is_writing_) {
    step->outgoing = TakeOutgoing();
    is_writing_ = !step->outgoing.IsEmpty();
  }
  if (!is_writing_ && is_ending_ && unanswered_ == 0) {
    is_finished_ = true;
    step->finishes = true;
    return;
  }
  const bool may_read = !is_paused_ && unanswered_ < model::kStreamUnansweredMax &&
                        !unsent_.IsFull();
  if (!is_reading_ && !has_all_ && !is_ending_ && may_read) {
    is_reading_ = true;
    step->reads = true;
    ++unanswered_;  // so that it is there for StartRead()
  }
}

// What is written keeps the stream there until it has been.
void MessageStream::Perform(Step step) {
  if (step.finishes) return FinishNow();
  if (step.reads) StartRead(&incoming_);
  if (!step.outgoing.IsEmpty()) Write(std::move(step.outgoing));
  if (step.ends) OnEnding();
  const int64_t kept = (step.reads ? 1 : 0) + (step.ends ? 1 : 0);
  if (kept > 0) Update([&] { unanswered_ -= kept; });
}

void MessageStream::Write(Outgoing outgoing) {
  on_sent_ = std::move(outgoing.done);
  if (outgoing.message != nullptr) {
    bool own_buffer = false;
    outgoing_.Clear();
    const grpc::Status written =
        grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::MessageLite>(
            *outgoing.message, &outgoing_, &own_buffer);
    static_cast<void>(written);  // a message of ours is always one
  } else {
    const grpc::Slice slice(outgoing.bytes);
    grpc::ByteBuffer(&slice, 1).Swap(&outgoing_);
  }
  BeginWrite(BytesUnderWay());
  StartWrite(&outgoing_);
}

void MessageStream::OnReadDone(bool ok) {
  if (!ok) {
    Update([this] {
      is_reading_ = false;
      has_all_ = true;
      EndWith(absl::OkStatus());
    });
    return;
  }
  bool is_taken = false;
  Update([&] {
    is_taken = !is_ending_;
    if (is_taken) ++unanswered_;  // so that it is there for what the message sets going
  });
  const absl::Status status = is_taken ? Handle() : absl::OkStatus();
  Update([&] {
    is_reading_ = false;
    if (is_taken) --unanswered_;
    if (!status.ok()) EndWith(status);
  });
}

// The rules may have changed, or the credentials expired, since the message before.
absl::Status MessageStream::Handle() {
  const auto bytes = static_cast<int64_t>(incoming_.Length());
  CountRead(bytes);
  ASSIGN_OR_RETURN(admitted_, AdmitAgain());
  RETURN_IF_ERROR(CheckRequestSize(static_cast<size_t>(bytes)));
  return OnMessage(incoming_,
                   MessageHold::Take(scope().in_flight, party(), bytes, KeepsWork()));
}

void MessageStream::OnWriteDone(bool ok) {
  EndWrite(BytesUnderWay(), ok);
  if (on_sent_ != nullptr) on_sent_(ok);
  Update([&] {
    is_writing_ = false;
    if (ok) return;
    is_broken_ = true;
    EndWith(absl::CancelledError("the caller has left"));
  });
}

void MessageStream::OnCancel() {
  Update([this] {
    is_broken_ = true;
    EndWith(absl::CancelledError("the caller has left"));
  });
}

// Nobody changes `end_` any more.
void MessageStream::FinishNow() {
  TellEnd(end_);
  Finish(ToGrpc(end_));
}

void MessageStream::OnDone() {
  const Left left = Leave(end_, is_broken_);
  delete this;
  left.End();
}

}  // namespace skiplane::rpc
