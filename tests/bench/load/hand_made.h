// The queue table that people write by hand: rows, an index of the ready ones, FOR UPDATE SKIP
// LOCKED, a lease that ends by itself, a DELETE when the work is done. It keeps no history, takes
// nothing back whose worker died, and knows no keys. Its callers have a connection and a thread
// each.
#pragma once

#include "tests/bench/broker_run.h"
#include "tests/bench/figures.h"
#include "tests/bench/load/apart.h"
#include "tests/bench/options.h"

namespace skiplane::bench {

// Makes the table in the PostgreSQL of `broker`, which is stopped meanwhile, and measures the load
// at it. A worker that finds nothing looks again 5 ms later.
Figures RunHandMade(Stage& stage, BrokerRun& broker, const ApartLoad& load);

}  // namespace skiplane::bench
