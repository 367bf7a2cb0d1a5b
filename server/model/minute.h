// What a broker saw in a minute of one stage of a lane.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "server/model/lane_stage.h"
#include "server/model/time_histogram.h"

namespace skiplane::model {

struct MinuteTimes {
  TimeHistogram run;   // of attempts that their workers settled
  TimeHistogram wait;  // of attempts that began
};

struct MinuteEntry {
  LaneStage lane_stage;
  absl::Time minute;  // when it began, by the database's clock
  MinuteTimes times;
};

}  // namespace skiplane::model
