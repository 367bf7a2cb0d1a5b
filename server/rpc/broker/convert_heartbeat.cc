#include "server/rpc/broker/convert_heartbeat.h"

#include <algorithm>
#include <string>
#include <utility>

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_settle.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/text.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kLeases = "leases";
constexpr DurationRange kLeaseRange = {model::kLeaseDurationMin, model::kLeaseDurationMax};

absl::StatusOr<model::HeldLease> ReadHeld(v1::HeldLease* wire, size_t index) {
  model::HeldLease held;
  ASSIGN_OR_RETURN(held.token, ReadToken(wire->lease_token(), {"lease_token", kLeases, index}));
  if (!wire->has_progress()) return held;
  // Both are cut, because a beat that is refused costs the worker all that it holds.
  const double fraction = wire->progress().fraction();
  const double cut = fraction >= 0.0 ? std::min(fraction, 1.0) : 0.0;  // NaN is 0, too
  CutTextInPlace(model::kProgressMessageBytesMax, wire->mutable_progress()->mutable_message());
  held.progress = model::TaskProgress{
      cut, std::move(*wire->mutable_progress()->mutable_message())};
  return held;
}

}  // namespace

absl::StatusOr<broker::HeartbeatCall> ReadHeartbeat(v1::HeartbeatRequest* request) {
  broker::HeartbeatCall call;
  RETURN_IF_ERROR(
      CheckRequiredText(request->worker_id(), model::kWorkerIdBytesMax, {"worker_id"}));
  if (request->has_lease_duration()) {
    ASSIGN_OR_RETURN(call.lease_duration,
                     ReadDuration(request->lease_duration(), kLeaseRange, {"lease_duration"}));
  }
  RETURN_IF_ERROR(CheckCount(request->leases_size(), {0, model::kTasksPerCallMax}, {kLeases}));
  call.leases.reserve(static_cast<size_t>(request->leases_size()));
  for (v1::HeldLease& wire : *request->mutable_leases()) {
    ASSIGN_OR_RETURN(model::HeldLease held, ReadHeld(&wire, call.leases.size()));
    call.leases.push_back(std::move(held));
  }
  call.worker_id = std::move(*request->mutable_worker_id());
  call.end_session = request->end_session();
  return call;
}

void WriteHeartbeat(broker::HeartbeatAnswer* answer, v1::HeartbeatResponse* response) {
  response->mutable_results()->Reserve(static_cast<int>(answer->states.size()));
  for (const model::LeaseState state : answer->states) {
    response->add_results()->set_state(ToWire(state));
  }
  response->set_session_alive(answer->session_alive);
  if (answer->session_alive) {
    WriteDuration(answer->lease_remaining, response->mutable_lease_remaining());
  }
  if (answer->command != model::WorkerCommand::kRun) {
    response->set_command(ToWire(answer->command));
  }
}

}  // namespace skiplane::rpc
