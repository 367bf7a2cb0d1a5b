// A call that may wait: it counts among those that do, of all methods and of its connection, and is
// answered before its deadline.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/rpc/call/call.h"
#include "server/rpc/call/in_flight.h"

namespace skiplane::rpc {

// What to wait at most when the caller wants `wanted` and its deadline is `remaining` away: the
// answer leaves half a second (or a quarter of a short deadline) before it, so that no work is done
// for a caller that has given up. Never negative, never above model::kWaitMax.
absl::Duration CutWait(absl::Duration wanted, absl::Duration remaining);

class WaitingCall : public UnaryCall {
 public:
  WaitingCall(InFlight::WaitFor what, CallScope scope, absl::string_view method, CallWire wire)
      : UnaryCall(scope, method, wire), what_(what) {}

 protected:
  ~WaitingCall() override = default;

  // CutWait() to the deadline of this call, and to the end of its caller's credentials.
  absl::Duration Cut(absl::Duration wanted);
  // What of the time between such a wait and the deadline may still be used before the answer.
  absl::Duration SpareAfter(absl::Duration wait);
  // TOO_MANY_WAITING_CALLS if as many wait on its connection, or in this server, as may. Once.
  absl::Status Park();

  void Ended(bool cancelled) override;

 private:
  const InFlight::WaitFor what_;
  bool is_parked_ = false;
};

}  // namespace skiplane::rpc
