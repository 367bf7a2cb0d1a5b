#include "server/rpc/lease_call.h"

#include <algorithm>
#include <utility>

#include "server/model/limits.h"
#include "server/rpc/convert_lease.h"

namespace skiplane::rpc {
namespace {

using std::chrono::system_clock;

absl::Duration Remaining(const grpc::CallbackServerContext& context) {
  const system_clock::time_point deadline = context.deadline();
  if (deadline == system_clock::time_point::max()) return absl::InfiniteDuration();
  return absl::FromChrono(deadline) - absl::Now();
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

void LeaseCall::Begin(broker::LeaseCall request) {
  repeatable_ = !request.request_id.empty();
  request.wait = CutWait(request.wait, Remaining(context()));
  pending_ = broker_.Lease(std::move(request), [this](absl::StatusOr<broker::LeaseAnswer> answer) {
    Answer(std::move(answer));
  });
}

void LeaseCall::Answer(absl::StatusOr<broker::LeaseAnswer> answer) {
  if (!answer.ok()) {
    Refuse(answer.status());
    return;
  }
  memory_ = answer->memory;
  v1::LeaseResponse response;
  WriteLease(&*answer, &response);
  if (!repeatable_) undelivered_ = *std::move(answer);
  Reply(response);
}

void LeaseCall::OnCancel() {
  if (pending_ != nullptr) pending_->Cancel();
}

void LeaseCall::Ended(bool cancelled) {
  if (cancelled && !undelivered_.tasks.empty()) broker_.HandBack(undelivered_);
}

}  // namespace skiplane::rpc
