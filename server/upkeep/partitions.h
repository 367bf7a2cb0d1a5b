// Makes the day partitions of history and dead letters before their day comes, and drops those
// whose day is over. Not thread-safe.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/pg/session.h"

namespace skiplane::upkeep {

struct PartitionsResult {
  int64_t made = 0;
  int64_t dropped = 0;
  bool is_complete = true;
};

class Partitions {
 public:
  absl::StatusOr<PartitionsResult> RunOnce(pg::Session& session);
};

}  // namespace skiplane::upkeep
