// A Lease, or an Ack that asks for the next one: calls that wait, and whose answers must not get
// lost.
//
// A Lease that would wait is refused with TOO_MANY_WAITING_CALLS if too many wait on its
// connection, or in this server. An Ack is not refused: its lease does not wait then.
//
// A caller that leaves while the call waits cancels it at the broker. A caller that left before the
// answer reached the transport has its tasks handed back, unless it sent a request_id and may ask
// again.
#pragma once

#include <memory>

#include "server/broker/api/broker.h"
#include "server/rpc/call/call.h"

namespace skiplane::rpc {

// What to wait at most when the caller wants `wanted` and its deadline is `remaining` away: the
// answer leaves half a second (or a quarter of a short deadline) before it, so that no lease is
// made for a caller that has given up. Never negative, never above model::kWaitMax.
absl::Duration CutWait(absl::Duration wanted, absl::Duration remaining);

class LeaseCall final : public UnaryCall {
 public:
  LeaseCall(CallScope scope, absl::string_view method, CallWire wire, broker::Broker& broker);

  // One of them, once, from the handler.
  void Begin(broker::LeaseCall request);
  void Begin(broker::AckAndLeaseCall request);

 private:
  ~LeaseCall() override = default;

  void Answer(absl::StatusOr<broker::LeaseAnswer> answer);
  void AnswerBoth(absl::StatusOr<broker::AckAndLeaseAnswer> answer);
  void Prepare(broker::LeaseCall& request);
  absl::Status Park();
  void Hold(broker::LeaseAnswer answer);
  void OnCancel() override;
  void Ended(bool cancelled) override;

  broker::Broker& broker_;
  bool repeatable_ = false;
  std::string connection_;  // not empty while it is parked
  // Written by the handler's thread; gRPC calls OnCancel only after the handler has returned.
  std::shared_ptr<broker::PendingLease> pending_;
  broker::LeaseAnswer undelivered_;
};

}  // namespace skiplane::rpc
