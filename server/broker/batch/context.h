// What every part of the broker works with. All of it outlives the parts.
#pragma once

#include <string>

#include "server/base/timer.h"
#include "server/metrics/metrics.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

struct Context {
  pg::Pool& pool;
  base::Timer& timer;
  metrics::Metrics& metrics;
  std::string origin_id;  // of this broker, in notifications: without spaces, random
};

}  // namespace skiplane::broker
