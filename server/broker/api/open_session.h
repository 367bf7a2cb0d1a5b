// What rpc asks of the broker when a worker begins a stream.
#pragma once

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

}  // namespace skiplane::broker
