// The heartbeats of many sessions, spread evenly over time.
#pragma once

#include <cstddef>
#include <functional>

#include "absl/time/time.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {

// Calls `beat` with the number of each session in turn, three times per lease duration each, until
// the stage is over. Those that are due come at once, a hundred times a second.
void BeatInTurn(const Stage& stage, size_t sessions, absl::Duration lease,
                const std::function<void(size_t)>& beat);

}  // namespace skiplane::bench
