// The background chores, on a thread and a connection of their own.
//
// One broker at a time leads; two that believe they lead do no harm. Each chore is one file with
// one RunOnce, bounded in its work, and logs one line only when it did something. A pass is due
// every 500 ms (reclaim, counters); slower chores have their own intervals; giving space back,
// which may take long, has a thread and at times a connection of its own. Start and Stop are
// idempotent.
#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/metrics/metrics.h"
#include "server/pg/session.h"
#include "server/upkeep/vacuum.h"

namespace skiplane::upkeep {

struct UpkeepOptions {
  pg::ConnectOptions connect;
  pg::Uuid broker_id{};
  std::string broker_name;
  absl::Duration pass_interval = absl::Milliseconds(500);
  absl::Duration vacuum_interval = absl::Minutes(1);
  VacuumOptions vacuum{};
};

class Upkeep {
 public:
  // `metrics` outlives the object.
  Upkeep(UpkeepOptions options, metrics::Metrics* metrics);
  ~Upkeep();

  void Start();

  // Ends the thread and gives the lead up.
  void Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skiplane::upkeep
