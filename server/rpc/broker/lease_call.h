// A Lease, or an Ack or Settle that asks for the next one: calls that wait, and whose answers must
// not get lost.
//
// A Lease that would wait is refused with TOO_MANY_WAITING_CALLS if too many wait on its
// connection, or in this server. The others are not refused: their lease does not wait then.
//
// A caller that leaves while the call waits cancels it at the broker. A caller that left before the
// answer reached the transport has its tasks handed back, unless it sent a request_id and may ask
// again.
#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "server/broker/api/broker.h"
#include "server/rpc/call/waiting_call.h"

namespace skiplane::rpc {

class LeaseCall final : public WaitingCall {
 public:
  LeaseCall(CallScope scope, absl::string_view method, CallWire wire, broker::Broker& broker);

  // Makes the response of a settlement; the lease stays in the answer.
  using Respond = absl::AnyInvocable<std::unique_ptr<google::protobuf::MessageLite>(
      broker::SettleAndLeaseAnswer*)>;

  // One of them, once, from the handler.
  void Begin(broker::LeaseCall request);
  void Begin(broker::SettleAndLeaseCall request, Respond respond);

 private:
  ~LeaseCall() override = default;

  void Answer(absl::StatusOr<broker::LeaseAnswer> answer);
  void AnswerBoth(absl::StatusOr<broker::SettleAndLeaseAnswer> answer);
  void Prepare(broker::LeaseCall& request);
  void Hold(broker::LeaseAnswer answer);
  void OnCancel() override;
  void Ended(bool cancelled) override;

  broker::Broker& broker_;
  Respond respond_;
  bool repeatable_ = false;
  // Written by the handler's thread; gRPC calls OnCancel only after the handler has returned.
  std::shared_ptr<broker::PendingLease> pending_;
  broker::LeaseAnswer undelivered_;
};

}  // namespace skiplane::rpc
