// A stage of a lane: where tasks wait in one order. What a lease, and a notification, are about.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

namespace skiplane::model {

struct LaneStage {
  int64_t lane = 0;
  int16_t stage = 0;

  friend auto operator<=>(const LaneStage&, const LaneStage&) = default;

  template <typename H>
  friend H AbslHashValue(H hash, const LaneStage& lane_stage) {
    return H::combine(std::move(hash), lane_stage.lane, lane_stage.stage);
  }
};

}  // namespace skiplane::model
