// Whether this broker does the chores of the installation: it takes the lead when nobody has it,
// and keeps it by asking again before its time is over. The lead is a row with an end, so that it
// needs no connection of its own; chores are safe when two believe they lead. Not thread-safe.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/metrics/metrics.h"
#include "server/pg/session.h"
#include "server/store/peers.h"

namespace skiplane::upkeep {

class Leader {
 public:
  // `metrics` outlives the object.
  Leader(const pg::Uuid& broker_id, metrics::Metrics* metrics);

  absl::StatusOr<store::Lead> RunOnce(pg::Session& session);

  // Gives the lead up if this broker has it.
  absl::Status Resign(pg::Session& session);

  // The database cannot be asked: somebody else may lead by now.
  void Doubt();

  bool is_leader() const { return is_leader_; }

 private:
  void Become(bool is_leader);

  pg::Uuid broker_id_;
  metrics::Metrics* metrics_;
  bool is_leader_ = false;
};

}  // namespace skiplane::upkeep
