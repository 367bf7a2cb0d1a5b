// A GetTask: answered at once, or parked until its task has ended.
//
// A call with a wait is refused with TOO_MANY_WAITING_CALLS if too many have one. A caller that
// leaves while it waits cancels it at the broker.
#pragma once

#include <memory>

#include "server/broker/api/operator.h"
#include "server/rpc/call/waiting_call.h"

namespace skiplane::rpc {

class AwaitCall final : public WaitingCall {
 public:
  AwaitCall(CallScope scope, absl::string_view method, CallWire wire, broker::Operator& oper);

  // Once, from the handler.
  void Begin(broker::GetTaskCall request);

 private:
  ~AwaitCall() override = default;

  void OnCancel() override;

  broker::Operator& operator_;
  // Written by the handler's thread; gRPC calls OnCancel only after the handler has returned.
  std::shared_ptr<broker::PendingTask> pending_;
};

}  // namespace skiplane::rpc
