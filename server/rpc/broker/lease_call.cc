#include "server/rpc/broker/lease_call.h"

#include <algorithm>
#include <utility>

#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/broker/seal_tokens.h"

namespace skiplane::rpc {

LeaseCall::LeaseCall(CallScope scope, absl::string_view method, CallWire wire,
                     broker::Broker& broker)
    : WaitingCall(InFlight::WaitFor::kTasks, scope, method, wire), broker_(broker) {}

void LeaseCall::Prepare(broker::LeaseCall& request) {
  repeatable_ = !request.request_id.empty();
  request.wait = Cut(request.wait);
  request.last_look = std::min(broker::kLastLookMax, SpareAfter(request.wait));
  request.began = begin();  // before it was asked what it may have
}

void LeaseCall::Begin(broker::SettleAndLeaseCall request, Respond respond) {
  respond_ = std::move(respond);
  Prepare(request.lease);
  if (request.lease.wait > absl::ZeroDuration() && !Park().ok()) {
    request.lease.wait = absl::ZeroDuration();
  }
  pending_ = broker_.SettleAndLease(
      std::move(request), [this](absl::StatusOr<broker::SettleAndLeaseAnswer> answer) {
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
  SealTokens(seal(), &response);
  Hold(*std::move(answer));
  Reply(response);
}

void LeaseCall::AnswerBoth(absl::StatusOr<broker::SettleAndLeaseAnswer> answer) {
  if (!answer.ok()) {
    Refuse(answer.status());
    return;
  }
  const std::unique_ptr<google::protobuf::MessageLite> response = respond_(&*answer);
  if (answer->lease.has_value()) Hold(*std::move(answer->lease));
  Reply(*response);
}

void LeaseCall::Hold(broker::LeaseAnswer answer) {
  Keep(answer.memory);
  if (!repeatable_) undelivered_ = std::move(answer);
}

void LeaseCall::OnCancel() {
  WaitingCall::OnCancel();
  if (pending_ != nullptr) pending_->Cancel();
}

void LeaseCall::Ended(bool cancelled) {
  WaitingCall::Ended(cancelled);
  if (cancelled && !undelivered_.tasks.empty()) broker_.HandBack(undelivered_);
}

}  // namespace skiplane::rpc
