// One chore's way through the lanes, in passes of bounded time.
//
// The next pass goes on where one ended early, so that every lane is served, however many there
// are. A lane that fails does not hold up the others.
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/pg/session.h"

namespace skiplane::upkeep {

class Round {
 public:
  // A pass begins no further lane after `limit`; it always gets to one.
  explicit Round(absl::Duration limit) : limit_(limit) {}

  // Calls `visit` with each lane in ascending order. It returns whether nothing is left there.
  // Returns the first error; ends early when the session broke.
  absl::Status Visit(pg::Session& session, std::vector<int64_t> lanes,
                     absl::FunctionRef<absl::StatusOr<bool>(int64_t lane)> visit);

  // Whether the time of the pass is over: for visits that run several statements.
  bool is_over() const;

  // Whether the last pass got to the end of the lanes, and its round left nothing to do in any.
  bool is_complete() const { return !resume_after_ && !has_left_work_; }

 private:
  absl::Duration limit_;
  std::chrono::steady_clock::time_point started_;
  std::optional<int64_t> resume_after_;
  bool has_left_work_ = false;
};

}  // namespace skiplane::upkeep
