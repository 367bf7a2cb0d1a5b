// The load of producers that are apart from workers: who enqueues leases nothing. All calls are on
// gRPC's threads.
#pragma once

#include <cstdint>
#include <memory>

#include "tests/bench/figures.h"
#include "tests/bench/load/flow.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {

struct ApartLoad {
  int producers = 10;
  int workers = 10;
  int tasks_per_enqueue = 100;
  int tasks_per_lease = 100;
  // Tasks that producers begin to enqueue in a second, however long calls take (open loop); or, if
  // it is 0, as many as workers do, of which `waiting_most` wait.
  double tasks_per_s = 0;
  int64_t waiting_most = 5000;
};

// When the producers of `load` may enqueue.
std::unique_ptr<Flow> NewFlow(const ApartLoad& load);

// The latencies are those of tasks from the time at which their Enqueue was to begin until a worker
// has them. Returns when all have ended.
Figures RunApart(Stage& stage, const ApartLoad& load);

}  // namespace skiplane::bench
