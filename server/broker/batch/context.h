// What every part of the broker works with. All of it outlives the parts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/types/span.h"
#include "server/base/timer.h"
#include "server/broker/batch/minute_recorder.h"
#include "server/broker/batch/pool_turns.h"
#include "server/metrics/metrics.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

struct Context {
  pg::Pool& pool;    // for batches, and for what the broker itself has to do
  PoolTurns& turns;  // for all else
  base::Timer& timer;
  metrics::Metrics& metrics;
  std::string origin_id;  // of this broker, in notifications: without spaces, random
  // Told of tasks of a lane that a commit of this broker ended, before its callers are.
  std::function<void(int64_t lane, absl::Span<const int64_t> tasks)> on_ended =
      [](int64_t, absl::Span<const int64_t>) {};
  std::shared_ptr<MinuteRecorder> minutes = std::make_shared<MinuteRecorder>();
};

}  // namespace skiplane::broker
