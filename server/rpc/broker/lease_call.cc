#include "server/rpc/broker/lease_call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/broker/api/refusals.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/broker/convert_settle.h"
#include "server/rpc/broker/lost_lease.h"

namespace skiplane::rpc {
namespace {

using std::chrono::system_clock;

absl::Duration Remaining(const grpc::CallbackServerContext& context) {
  const system_clock::time_point deadline = context.deadline();
  if (deadline == system_clock::time_point::max()) return absl::InfiniteDuration();
  return absl::FromChrono(deadline) - absl::Now();
}

absl::Status NoPlaceToWait(InFlight::Parking parking, const InFlight::Limits& limits) {
  if (parking == InFlight::Parking::kConnectionIsFull) {
    return broker::TooManyWaitingLeases(
        absl::StrCat(limits.parked_per_connection, " Lease calls wait on this connection already"),
        "use more connections, or fewer calls with a larger max_tasks");
  }
  return broker::TooManyWaitingLeases(
      absl::StrCat(limits.parked, " Lease calls wait in this broker already"),
      "retry later, use another broker, or fewer calls with a larger max_tasks");
}

}  // namespace

absl::Duration CutWait(absl::Duration wanted, absl::Duration remaining) {
  const absl::Duration margin = std::min(absl::Milliseconds(500), remaining / 4);
  const absl::Duration wait = std::min({wanted, model::kWaitMax, remaining - margin});
  return std::max(wait, absl::ZeroDuration());
}

LeaseCall::LeaseCall(CallScope scope, absl::string_view method, CallWire wire,
                     broker::Broker& broker)
    : UnaryCall(scope, method, wire), broker_(broker) {}

void LeaseCall::Prepare(broker::LeaseCall& request) {
  repeatable_ = !request.request_id.empty();
  request.wait = CutWait(request.wait, Remaining(context()));
}

absl::Status LeaseCall::Park() {
  std::string connection = CallerAddress();
  const InFlight::Parking parking = in_flight().Park(connection);
  if (parking != InFlight::Parking::kGranted) {
    return NoPlaceToWait(parking, in_flight().limits());
  }
  connection_ = std::move(connection);
  GiveBack(model::kParkedRequestBytes);
  return absl::OkStatus();
}

void LeaseCall::Begin(broker::AckAndLeaseCall request) {
  Prepare(request.lease);
  if (request.lease.wait > absl::ZeroDuration() && !Park().ok()) {
    request.lease.wait = absl::ZeroDuration();
  }
  pending_ = broker_.AckAndLease(std::move(request),
                                 [this](absl::StatusOr<broker::AckAndLeaseAnswer> answer) {
                                   AnswerBoth(std::move(answer));
                                 });
}

void LeaseCall::Begin(broker::LeaseCall request) {
  Prepare(request);
  if (request.wait > absl::ZeroDuration()) {
    if (const absl::Status status = Park(); !status.ok()) {
      Refuse(status);
      return;
    }
  }
  pending_ = broker_.Lease(std::move(request), [this](absl::StatusOr<broker::LeaseAnswer> answer) {
    Answer(std::move(answer));
  });
}

void LeaseCall::Answer(absl::StatusOr<broker::LeaseAnswer> answer) {
  if (!answer.ok()) {
    Refuse(answer.status());
    return;
  }
  v1::LeaseResponse response;
  WriteLease(&*answer, &response);
  Hold(*std::move(answer));
  Reply(response);
}

void LeaseCall::AnswerBoth(absl::StatusOr<broker::AckAndLeaseAnswer> answer) {
  if (!answer.ok()) {
    Refuse(answer.status());
    return;
  }
  CountLost(answer->results, metrics());
  v1::AckResponse response;
  WriteAck(&answer->results, &response);
  if (answer->lease.has_value()) {
    WriteLease(&*answer->lease, response.mutable_lease());
    Hold(*std::move(answer->lease));
  }
  Reply(response);
}

void LeaseCall::Hold(broker::LeaseAnswer answer) {
  Keep(answer.memory);
  if (!repeatable_) undelivered_ = std::move(answer);
}

void LeaseCall::OnCancel() {
  if (pending_ != nullptr) pending_->Cancel();
}

void LeaseCall::Ended(bool cancelled) {
  if (!connection_.empty()) in_flight().Unpark(connection_);
  if (cancelled && !undelivered_.tasks.empty()) broker_.HandBack(undelivered_);
}

}  // namespace skiplane::rpc
