// Puts tasks and rows into a scenario's database before it is measured.
#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/broker_run.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {

// Through the broker, in calls of 1,000.
void EnqueueAll(Stage& stage, int64_t tasks);

enum class Preload { kReady, kDelayed, kHistory, kPeriodic };  // periodic: every 10 s, due

// Straight into the tables of queue `queue`, as the broker would have written it; vacuumed and
// checkpointed when this returns.
void PreloadRows(BrokerRun& broker, const std::string& queue, Preload what, int64_t rows);

}  // namespace skiplane::bench
