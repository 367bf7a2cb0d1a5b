#include "server/rpc/admin/await_call.h"

#include <utility>

#include "server/rpc/admin/convert_operator.h"
#include "server/rpc/call/reply.h"

namespace skiplane::rpc {

AwaitCall::AwaitCall(CallScope scope, absl::string_view method, CallWire wire,
                     broker::Operator& oper)
    : WaitingCall(InFlight::WaitFor::kEndOfTask, scope, method, wire), operator_(oper) {}

void AwaitCall::Begin(broker::GetTaskCall request) {
  request.wait = Cut(request.wait);
  if (request.wait > absl::ZeroDuration()) {
    if (const absl::Status status = Park(); !status.ok()) {
      Refuse(status);
      return;
    }
  }
  pending_ = operator_.GetTask(
      std::move(request), ReplyWithList(this, &broker::TaskDetails::attempts, &WriteGetTask));
}

void AwaitCall::OnCancel() {
  WaitingCall::OnCancel();
  if (pending_ != nullptr) pending_->Cancel();
}

}  // namespace skiplane::rpc
