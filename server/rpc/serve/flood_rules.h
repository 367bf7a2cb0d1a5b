// Which connections are cut when memory is short: those that hold most of what no call accounts
// for. A pure function of what was seen, so that it is tested without floods. The sizes have their
// reasons in docs/adr/2026-11-25-floods-cut-by-a-watch.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::rpc {

// Of one connection.
struct Held {
  int64_t bytes = 0;    // that came, and that no call came with
  int64_t streams = 0;  // that gRPC holds, and that no call waits behind
  bool resets = false;  // most of its streams of the last moment were given up
  absl::Duration stalled;  // no call has come from it for so long, while it held bytes
};

struct FloodCut {
  size_t index;              // of `held`
  absl::string_view reason;  // bytes, memory, stalled or streams: a label of the metric
};

// `memory`: of the process, beside what connections and waiting calls that are allowed take.
std::vector<FloodCut> WhomToCut(const std::vector<Held>& held, int64_t memory);

// Below this much nobody is looked at: a calm broker.
inline constexpr int64_t kCalmBytes = 128 << 20;

}  // namespace skiplane::rpc
