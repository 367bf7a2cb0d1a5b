#include "server/rpc/call/waiting_call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/broker/api/refusals.h"
#include "server/model/limits.h"

namespace skiplane::rpc {
namespace {

using std::chrono::system_clock;

absl::Duration Remaining(const grpc::CallbackServerContext& context) {
  const system_clock::time_point deadline = context.deadline();
  if (deadline == system_clock::time_point::max()) return absl::InfiniteDuration();
  return absl::FromChrono(deadline) - absl::Now();
}

absl::Status NoPlaceToWait(InFlight::Parking parking, const InFlight& in_flight,
                           InFlight::WaitFor what) {
  const bool awaits = what == InFlight::WaitFor::kEndOfTask;
  const absl::string_view fewer =
      awaits ? "fewer calls that wait at a time" : "fewer calls with a larger max_tasks";
  if (parking == InFlight::Parking::kConnectionIsFull) {
    return broker::TooManyWaitingCalls(
        absl::StrCat(in_flight.limits().parked_per_connection,
                     " calls wait on this connection already"),
        absl::StrCat("use more connections, or ", fewer));
  }
  const bool is_full_of_awaits = parking == InFlight::Parking::kAwaitsAreFull;
  return broker::TooManyWaitingCalls(
      absl::StrCat(is_full_of_awaits ? in_flight.PlacesOf(what) : in_flight.limits().parked,
                   " calls wait ", is_full_of_awaits ? "for the ends of tasks " : "",
                   "in this broker already"),
      absl::StrCat("retry later, use another broker, or ", fewer));
}

}  // namespace

absl::Duration CutWait(absl::Duration wanted, absl::Duration remaining) {
  const absl::Duration margin = std::min(absl::Milliseconds(500), remaining / 4);
  const absl::Duration wait = std::min({wanted, model::kWaitMax, remaining - margin});
  return std::max(wait, absl::ZeroDuration());
}

absl::Duration WaitingCall::Cut(absl::Duration wanted) {
  return CutWait(wanted, Remaining(context()));
}

absl::Status WaitingCall::Park() {
  std::string connection = CallerAddress();
  const InFlight::Parking parking = in_flight().Park(connection, what_);
  if (parking != InFlight::Parking::kGranted) return NoPlaceToWait(parking, in_flight(), what_);
  connection_ = std::move(connection);
  GiveBack(model::kParkedRequestBytes);
  return absl::OkStatus();
}

void WaitingCall::Ended(bool) {
  if (!connection_.empty()) in_flight().Unpark(connection_, what_);
}

}  // namespace skiplane::rpc
