#include "server/rpc/call/call.h"

#include <algorithm>

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/access/worker_key.h"
#include "server/base/reason.h"
#include "server/base/sampled_event.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/method_verb.h"
#include "server/rpc/call/no_room.h"
#include "server/rpc/call/status.h"

namespace skiplane::rpc {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;

// gRPC reports a passed deadline as a cancellation. The caller's own clock may notice it a little
// earlier than ours, because gRPC rounds the time to the deadline up on its way.
constexpr auto kDeadlineSlack = std::chrono::milliseconds(100);

grpc::StatusCode CodeOfLostCall(const grpc::CallbackServerContext& context) {
  return context.deadline() - kDeadlineSlack <= system_clock::now()
             ? grpc::StatusCode::DEADLINE_EXCEEDED
             : grpc::StatusCode::CANCELLED;
}

// A refused enqueue or lease costs time; one of these, work that was done.
bool KeepsWork(absl::string_view method) {
  return method == "skiplane.v1.BrokerService/Ack" || method == "skiplane.v1.BrokerService/Nack" ||
         method == "skiplane.v1.BrokerService/Settle" ||
         method == "skiplane.v1.BrokerService/Heartbeat";
}

// Without the message, which may repeat what the caller sent.
void LogRefused(absl::string_view method, const std::string& principal,
                const absl::Status& status) {
  static constinit base::SampledEvent event("call_refused");
  if (!event.Wanted()) return;
  event.Write({{"method", std::string(method)},
               {"principal", principal},
               {"code", absl::StatusCodeToString(status.code())},
               {"reason", base::ReasonOf(status)}});
}

std::string VisibleText(absl::string_view text) {
  std::string visible;
  for (const char c : text.substr(0, model::kActorBytesMax)) {
    if (absl::ascii_isprint(static_cast<unsigned char>(c))) visible.push_back(c);
  }
  return visible;
}

}  // namespace

std::string UnaryCall::Actor() const {
  const access::Principal* const principal = admitted_.principal.get();
  if (principal != nullptr && principal->name != access::kAnonymous) return principal->name;
  std::string claimed = ClaimedActor();
  return claimed.empty() ? CallerName() : claimed;
}

std::string UnaryCall::ClaimedActor() const {
  return VisibleText(MetadataOf(*wire_.context, "skiplane-actor"));
}

std::string UnaryCall::CallerName() const {
  const Caller caller = CallerOf(*wire_.context, scope_.is_passed_on);
  return VisibleText(caller.name.empty() ? caller.address : caller.name);
}

UnaryCall::UnaryCall(CallScope scope, absl::string_view method, CallWire wire)
    : scope_(scope),
      method_(method),
      wire_(wire),
      begin_(steady_clock::now()),
      is_admitted_(scope.in_flight.Begin()) {
  scope_.metrics.RpcStarted(method_);
}

void UnaryCall::Reply(const google::protobuf::MessageLite& message) {
  bool own_buffer = false;
  const auto bytes = static_cast<int64_t>(message.ByteSizeLong());
  if (memory_ != nullptr) {
    KeepBytes(bytes);
  } else if (is_admitted_) {
    scope_.in_flight.Add(bytes, &holding_);
  }
  End(grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::MessageLite>(
      message, wire_.reply, &own_buffer));
}

void UnaryCall::KeepBytes(int64_t bytes) {
  scope_.in_flight.AddToParty(bytes, &holding_);
  if (tally_ != nullptr) CallTally::BeginAnswer(*tally_, holding_.party_bytes);
}

UnaryCall* UnaryCall::Refuse(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) {
    scope_.metrics.RpcExhausted(base::ReasonOf(status));
  }
  if (absl::IsPermissionDenied(status) && admitted_.principal != nullptr) {
    LogDenied("principal", principal().name, method_, status);
  }
  LogRefused(method_, admitted_.principal == nullptr ? "" : admitted_.principal->name, status);
  for (const auto& [name, value] : TrailersOf(status)) {
    wire_.context->AddTrailingMetadata(name, value);
  }
  End(ToGrpc(status));
  return this;
}

absl::Status UnaryCall::Admit(size_t request_bytes) {
  if (!is_admitted_) return BrokerIsDraining();
  const Caller caller = CallerOf(*wire_.context, scope_.is_passed_on);
  caller_address_ = caller.address;
  RETURN_IF_ERROR(Authenticate(caller, request_bytes));
  if (wire_.context->IsCancelled()) {
    CountGivenUp();
    return absl::CancelledError("the caller has left");
  }
  RETURN_IF_ERROR(CheckMethod(grants(), principal().name, method_));
  RETURN_IF_ERROR(CheckRequestSize(request_bytes));
  if (tally_ != nullptr && scope_.tally.IsFull(*tally_)) {
    return base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_CALLS",
                        "too many calls of this connection were given up by their caller and are "
                        "still under way; nothing was changed: retry later, with longer deadlines");
  }
  return HoldRoom(static_cast<int64_t>(request_bytes));
}

absl::Status UnaryCall::Authenticate(const Caller& caller, size_t request_bytes) {
  const auto& metadata = wire_.context->client_metadata();
  const ShownCredentials shown{MetadataOf(*wire_.context, kAuthorization),
                               metadata.count(kAuthorization), scope_.has_tls, method_};
  if (!scope_.is_passed_on) {
    tally_ = scope_.tally.Begin(
        caller.address, static_cast<int64_t>(request_bytes + shown.authorization.size()));
    counted_ = Counted::kCall;
  }
  ASSIGN_OR_RETURN(admitted_, rpc::Admit(scope_.authenticator, caller, shown));
  return absl::OkStatus();
}

absl::Status UnaryCall::HoldRoom(int64_t bytes) {
  const Party party = PartyOf(principal(), caller_address_);
  const InFlight::Room room =
      scope_.in_flight.Hold(party, bytes, KeepsWork(method_), &holding_);
  if (room == InFlight::Room::kGranted) return absl::OkStatus();
  return NoRoom(party, room, scope_.in_flight);
}

std::string UnaryCall::ProvenName() const {
  return ProvenNameOf(principal());
}

std::string UnaryCall::PartyName() const {
  return std::string(PartyOf(principal(), caller_address_).name);
}

access::TokenSeal UnaryCall::seal() const { return scope_.sealer.For(principal().name); }

void UnaryCall::OwnWorker(std::string* worker_id) const {
  *worker_id = access::WorkerKey(principal().name, *worker_id);
}

void UnaryCall::GiveBack(int64_t bytes) {
  scope_.in_flight.Add(-std::min(bytes, holding_.bytes), &holding_);
}

void UnaryCall::CountAs(Counted state) {
  Counted is = Counted::kCall;
  if (!counted_.compare_exchange_strong(is, state)) return;
  if (state == Counted::kAbandoned) {
    scope_.tally.Abandon(*tally_);
  } else {
    tally_->calls.fetch_sub(1, std::memory_order_relaxed);
  }
}

void UnaryCall::OnCancel() {
  if (is_dropped_with_caller_) return;
  CountAs(Counted::kAbandoned);
  CountGivenUp();
}

void UnaryCall::CountGivenUp() {
  if (tally_ == nullptr || is_given_up_.exchange(true)) return;
  scope_.tally.GiveUp(*tally_);
}

void UnaryCall::End(const grpc::Status& status) {
  code_ = status.error_code();
  if (!is_dropped_with_caller_) CountAs(Counted::kNot);
  Finish(status);
}

void UnaryCall::Ended(bool) {}

void UnaryCall::OnDone() {
  const bool cancelled = wire_.context->IsCancelled();
  Ended(cancelled);
  CountAs(Counted::kNot);
  if (counted_ == Counted::kAbandoned) scope_.tally.EndAbandoned(*tally_);
  if (tally_ != nullptr && holding_.party_bytes > 0) {
    CallTally::EndAnswer(*tally_, holding_.party_bytes, !cancelled);
  }
  if (is_given_up_) {
    scope_.tally.EndGivenUp();
  } else if (tally_ != nullptr && !cancelled) {
    tally_->answered.fetch_add(1, std::memory_order_relaxed);
  }
  const grpc::StatusCode code = cancelled ? CodeOfLostCall(*wire_.context) : code_;
  const auto duration = absl::FromChrono(steady_clock::now() - begin_);
  scope_.metrics.RpcEnded(method_, CodeName(code), duration);
  InFlight* const in_flight = is_admitted_ ? &scope_.in_flight : nullptr;
  const InFlight::Holding holding = holding_;
  delete this;
  if (in_flight != nullptr) in_flight->End(holding);
}

}  // namespace skiplane::rpc
