// What rpc asks of the broker for workers with a stream.
#pragma once

#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "server/broker/api/calls.h"
#include "server/model/lease.h"

namespace skiplane::broker {

// A worker says that it is there, and what it holds.
struct OpenSessionCall {
  LeaseCall lease;  // as its later ones are to be
  std::vector<model::LeaseToken> leases;
};

struct OpenSessionAnswer {
  std::vector<model::LeaseState> states;  // one per lease, in order
  absl::Duration lease_duration;
  absl::Duration lease_remaining;
};

// Called on a thread of the broker: it must not block.
using LeasesTaken = std::function<void()>;

}  // namespace skiplane::broker
