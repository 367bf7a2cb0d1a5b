// The hand-made table of periodic tasks, as it is in many services: each of 100 workers takes ten
// rows that are due over a connection of its own (FOR UPDATE SKIP LOCKED), and says in a
// transaction of its own when they are due again.
#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/broker_run.h"
#include "tests/bench/figures.h"
#include "tests/bench/options.h"

namespace skiplane::bench {

// Makes the table with `tasks` rows that are due in the PostgreSQL of `broker`, which it restarts
// and which has no other work, and measures the workers.
Figures RunClassic(const std::string& name, BrokerRun& broker, const Options& options,
                   int64_t tasks);

}  // namespace skiplane::bench
