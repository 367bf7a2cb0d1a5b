// How long attempts waited and ran, gathered in memory by lane, stage and minute until they are
// written to the database once a minute: so no statement of a lease or an ack pays for them. What
// is not written when the process is killed is lost. Thread-safe.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/model/minute.h"

namespace skiplane::broker {

class MinuteRecorder {
 public:
  // Some 300 bytes each. What came for further ones is not kept.
  static constexpr size_t kEntriesMax = 20000;

  // `now`: the database's time, which says which minute it is.
  void Waited(model::LaneStage lane_stage, absl::Span<const absl::Duration> waits, absl::Time now);
  void Ran(model::LaneStage lane_stage, absl::Span<const absl::Duration> runs, absl::Time now);

  // All that there is, which is forgotten here.
  std::vector<model::MinuteEntry> Take();

 private:
  using Key = std::pair<model::LaneStage, absl::Time>;

  // Null when there are too many.
  model::MinuteTimes* Find(model::LaneStage lane_stage, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  base::Mutex mutex_;
  absl::flat_hash_map<Key, model::MinuteTimes> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
