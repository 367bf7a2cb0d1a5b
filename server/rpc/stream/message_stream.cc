#include "server/rpc/stream/message_stream.h"

#include <utility>

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include "absl/time/clock.h"
#include "server/access/worker_key.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/method_verb.h"
#include "server/rpc/call/no_room.h"
#include "server/rpc/call/status.h"

namespace skiplane::rpc {

using std::chrono::steady_clock;

MessageStream::MessageStream(CallScope scope, Kind kind, StreamSet& streams,
                             grpc::CallbackServerContext* context)
    : unsent_(streams.unsent()),
      scope_(scope),
      kind_(kind),
      streams_(streams),
      context_(context),
      begin_(steady_clock::now()),
      is_counted_(scope.in_flight.Begin()) {
  scope_.metrics.RpcStarted(kind_.method);
}

void MessageStream::OwnWorker(std::string* worker_id) const {
  *worker_id = access::WorkerKey(principal_->name, *worker_id);
}

absl::StatusOr<access::Admitted> MessageStream::AdmitNow() const {
  const auto& metadata = context_->client_metadata();
  return rpc::Admit(scope_.authenticator, caller_,
                    {MetadataOf(*context_, kAuthorization), metadata.count(kAuthorization),
                     scope_.has_tls, kind_.method});
}

absl::Status MessageStream::Admit() {
  if (!is_counted_) return BrokerIsDraining();
  caller_ = CallerOf(*context_, scope_.is_passed_on);
  if (!scope_.is_passed_on) {
    tally_ = scope_.tally.Begin(caller_.address, static_cast<int64_t>(
        MetadataOf(*context_, kAuthorization).size()));
  }
  ASSIGN_OR_RETURN(admitted_, AdmitNow());
  principal_ = admitted_.principal;
  RETURN_IF_ERROR(CheckMethod(grants(), principal_->name, kind_.method));
  const Party party = PartyOf(*principal_, caller_.address);
  const InFlight::Room room = scope_.in_flight.Hold(party, 0, true, &holding_);
  if (room != InFlight::Room::kGranted) return NoRoom(party, room, scope_.in_flight);
  constexpr InFlight::WaitFor kWhat = InFlight::WaitFor::kTasks;
  const InFlight::Parking parking = scope_.in_flight.Park(caller_.address, kWhat, holding_);
  if (parking != InFlight::Parking::kGranted) {
    return NoPlaceToWait(*principal_, parking, scope_.in_flight, kWhat);
  }
  is_parked_ = true;
  is_listed_ = streams_.Add(this);
  if (!is_listed_) return BrokerIsDraining();
  scope_.metrics.AddStreams(kind_.name, 1);
  return absl::OkStatus();
}

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
  if (tally_ != nullptr) CallTally::BeginAnswer(*tally_, BytesUnderWay());
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
  if (tally_ != nullptr) tally_->bytes.fetch_add(bytes, std::memory_order_relaxed);
  ASSIGN_OR_RETURN(admitted_, AdmitNow());
  if (admitted_.principal->name != principal_->name) {
    return access::InvalidCredentials("they prove another principal than when the stream began");
  }
  RETURN_IF_ERROR(CheckMethod(grants(), principal_->name, kind_.method));
  RETURN_IF_ERROR(CheckRequestSize(static_cast<size_t>(bytes)));
  return OnMessage(incoming_,
                   MessageHold::Take(scope_.in_flight, PartyOf(*principal_, caller_.address),
                                     bytes, KeepsWork()));
}

void MessageStream::OnWriteDone(bool ok) {
  if (tally_ != nullptr) CallTally::EndAnswer(*tally_, BytesUnderWay(), ok);
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
  if (!end_.ok() && !absl::IsCancelled(end_)) {
    if (absl::IsResourceExhausted(end_)) scope_.metrics.RpcExhausted(base::ReasonOf(end_));
    if (absl::IsPermissionDenied(end_) && principal_ != nullptr) {
      LogDenied("principal", principal_->name, kind_.method, end_);
    }
    for (const auto& [name, value] : TrailersOf(end_)) {
      context_->AddTrailingMetadata(name, value);
    }
  }
  Finish(ToGrpc(end_));
}

void MessageStream::OnDone() {
  if (is_listed_) {
    streams_.Remove(this);
    scope_.metrics.AddStreams(kind_.name, -1);
  }
  if (tally_ != nullptr) {
    tally_->calls.fetch_sub(1, std::memory_order_relaxed);
    if (!is_broken_) tally_->answered.fetch_add(1, std::memory_order_relaxed);
  }
  const auto duration = absl::FromChrono(steady_clock::now() - begin_);
  const std::string code = CodeName(static_cast<grpc::StatusCode>(end_.code()));
  scope_.metrics.RpcEnded(kind_.method, code, duration);
  if (is_parked_) {
    scope_.in_flight.Unpark(caller_.address, InFlight::WaitFor::kTasks, holding_);
  }
  InFlight* const in_flight = is_counted_ ? &scope_.in_flight : nullptr;
  const InFlight::Holding holding = holding_;
  delete this;
  if (in_flight != nullptr) in_flight->End(holding);
}

}  // namespace skiplane::rpc
