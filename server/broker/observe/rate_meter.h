// How fast counts grew in the last minute, from samples every few seconds. What did not change
// costs one sample per queue. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/base/timer.h"
#include "server/broker/api/report_calls.h"
#include "server/model/queue.h"

namespace skiplane::broker {

class RateMeter {
 public:
  static constexpr std::chrono::seconds kSpan{60};

  // Of a queue, by its id: its counts at this time, which grows from look to look. Returns the mean
  // since about kSpan ago, or since the first sample; zero with less than a second between them.
  // A queue that is newer than all of the looks before had nothing at the last one.
  Rates Note(int64_t queue, const model::QueueCounts& counts, base::SteadyTime now);

  // All queues were noted at this time: forgets the others.
  void EndLook(base::SteadyTime now);

 private:
  struct Sample {
    base::SteadyTime time{};
    int64_t enqueued = 0;
    int64_t succeeded = 0;
    int64_t failed = 0;
  };
  struct Series {
    std::deque<Sample> samples;  // one at least; the first is about kSpan old, or the oldest
    base::SteadyTime noted{};
  };

  absl::flat_hash_map<int64_t, Series> series_;
  std::optional<base::SteadyTime> last_look_;
  int64_t newest_ = 0;  // of all looks
};

}  // namespace skiplane::broker
