// The load of programs that use the client library: producers whose single enqueues share a stream,
// and workers to which tasks are pushed, each settled by itself.
#pragma once

#include "absl/time/time.h"
#include "tests/bench/figures.h"
#include "tests/bench/load/apart.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {

struct StreamLoad {
  int outstanding = 256;  // enqueues under way at the same time, each of one task
  int workers = 4;        // each with a stream of its own
  int threads = 4;        // of each worker
  int credit = 64;        // of each worker: tasks that it has or waits for
  absl::Duration work{};  // how long a handler takes, without using a processor
  // As in ApartLoad.
  double tasks_per_s = 0;
  int64_t waiting_most = 5000;
};

// The latencies are those of tasks from the time at which their Enqueue was to begin until a worker
// has them. Returns when all have ended.
Figures RunStreamed(Stage& stage, const StreamLoad& load);

}  // namespace skiplane::bench
