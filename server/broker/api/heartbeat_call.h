// A worker's heartbeat, and what it is answered.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/base/timer.h"
#include "server/model/lease.h"

namespace skiplane::broker {

struct HeartbeatCall {
  std::string worker_id;
  absl::Duration lease_duration;  // zero: the session's own
  std::vector<model::HeldLease> leases;
  bool end_session = false;
  base::SteadyTime began = std::chrono::steady_clock::now();
  absl::Duration ahead{};  // how much longer the session is to live: of calls of the broker itself
  std::string party{};     // as in LeaseCall
};

struct HeartbeatAnswer {
  std::vector<model::LeaseState> states;  // one per lease, in order
  bool session_alive = false;
  absl::Duration lease_remaining;
  model::WorkerCommand command = model::WorkerCommand::kRun;
};

}  // namespace skiplane::broker
