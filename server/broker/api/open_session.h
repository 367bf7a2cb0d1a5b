// What rpc asks of the broker for workers with a stream.
#pragma once

#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/broker/api/calls.h"
#include "server/model/lease.h"

namespace skiplane::broker {

// A worker says that it is there, and what it holds.
struct OpenSessionCall {
  LeaseCall lease;  // as its later ones are to be
  std::vector<model::LeaseToken> leases;
};

struct OpenSessionAnswer {
  model::SessionId session{};
  std::vector<model::LeaseState> states;  // one per lease, in order
  absl::Duration lease_duration;
  absl::Duration lease_remaining;
  model::WorkerCommand command = model::WorkerCommand::kRun;
};

// Called on threads of the broker: they must not block.
using LeasesTaken = std::function<void()>;
using SessionsGone = std::function<void(absl::Span<const model::SessionId>)>;

}  // namespace skiplane::broker
