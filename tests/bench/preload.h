// Puts tasks and rows into a scenario's database before it is measured.
#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/broker_run.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {

// Through the broker, in calls of 1,000.
void EnqueueAll(Stage& stage, int64_t tasks);

// The only lane of a queue.
int64_t LaneOf(const BrokerRun& broker, const std::string& queue);

// The first of `rows` task numbers that no broker will use.
int64_t TakeIds(const BrokerRun& broker, int64_t rows);

enum class Preload { kReady, kDelayed, kHistory, kPeriodic };  // periodic: every 10 s, due

// Straight into the tables of queue `queue`, as the broker would have written it; vacuumed and
// checkpointed when this returns.
void PreloadRows(BrokerRun& broker, const std::string& queue, Preload what, int64_t rows);

}  // namespace skiplane::bench
