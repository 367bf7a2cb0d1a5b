// Renews the leases of a worker by one call, or few, per third of their duration, and tells
// handlers to stop whose lease is lost or whose task an operator cancels.
//
// Calls that fail change nothing: whether a lease is lost is for the broker to say. After an outage
// it gives each worker one full lease duration to beat again.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "client/src/worker/command.h"
#include "client/src/worker/holdings.h"
#include "client/src/worker/line.h"
#include "client/src/worker/tally.h"
#include "skiplane/client.h"

namespace skiplane::internal {

// What one call can name.
inline constexpr int kHeartbeatLeasesMax = 1000;

class Heart {
 public:
  // It beats while `is_needed`.
  Heart(Client client, std::string worker_id, absl::Duration lease_duration,
        const std::atomic<bool>& is_needed, Command& command, Holdings& holdings, Tally& tally);
  ~Heart() { Stop(); }

  // Idempotent.
  void Stop();

 private:
  void Loop();
  void Heartbeat();
  void Renew(absl::Span<const HoldPtr> holds);
  void Lose(const HoldPtr& hold);

  Client client_;
  const std::string worker_id_;
  const absl::Duration lease_duration_;
  const std::atomic<bool>& is_needed_;
  Command& command_;
  Holdings& holdings_;
  Tally& tally_;
  Line line_;
  std::thread thread_;
};

}  // namespace skiplane::internal
