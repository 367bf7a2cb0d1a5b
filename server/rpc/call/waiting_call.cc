#include "server/rpc/call/waiting_call.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "server/model/limits.h"
#include "server/rpc/call/no_room.h"

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

absl::Duration WaitingCall::Cut(absl::Duration wanted) {
  const absl::Duration proven = principal().expires - absl::Now();
  return std::max(std::min(CutWait(wanted, Remaining(context())), proven), absl::ZeroDuration());
}

absl::Duration WaitingCall::SpareAfter(absl::Duration wait) {
  return std::max((Remaining(context()) - wait) * 0.6, absl::ZeroDuration());
}

absl::Status WaitingCall::Park() {
  const InFlight::Parking parking = in_flight().Park(caller_address(), what_, holding());
  if (parking != InFlight::Parking::kGranted) {
    return NoPlaceToWait(principal(), parking, in_flight(), what_);
  }
  is_parked_ = true;
  CountToItsEnd();
  GiveBack(model::kParkedRequestBytes);
  return absl::OkStatus();
}

void WaitingCall::Ended(bool) {
  if (is_parked_) in_flight().Unpark(caller_address(), what_, holding());
}

}  // namespace skiplane::rpc
