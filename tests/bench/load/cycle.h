// The load of workers that produce and consume: callers in a closed loop, each enqueues, leases up
// to as many tasks, acks what it got, and begins anew.
#pragma once

#include <cstdint>

#include "tests/bench/figures.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {

struct CycleLoad {
  int callers = 10;
  int tasks_per_call = 100;
  bool is_draining = false;  // lease and ack only, until `backlog` tasks are done,
  int64_t backlog = 0;       // or for as long as others if that is 0
  bool is_chained = false;  // each ack leases the next tasks
};

// Returns when all callers have ended.
Figures RunCycle(Stage& stage, const CycleLoad& load);

}  // namespace skiplane::bench
