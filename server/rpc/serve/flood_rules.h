// Which connections are cut: when memory is short those that hold most of what no call accounts
// for; and those that read no answers, when others would wait for theirs because of it. Pure
// functions of what was seen, so that they are tested without floods. The sizes have their reasons
// in docs/adr/2026-11-25-floods-cut-by-a-watch.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::rpc {

// Of one connection.
struct Held {
  int64_t bytes = 0;     // that came, and that no call came with
  int64_t streams = 0;   // that gRPC holds, and that no call waits behind
  int64_t leaving = 0;   // of these, that calls waited behind when memory was not short yet
  int64_t answered = 0;  // calls of it, ever
  int64_t given_up = 0;  // by it, ever
  int64_t unread = 0;    // bytes that are still with the kernel; counts above kRemainsMax only
  int64_t resets = 0;    // calls that it gave up since memory is short, less those answered
  bool is_suspect = false;  // a connection of its party was cut a moment ago
  absl::Duration stalled;  // no call has come from it for so long, while it held bytes
};

struct FloodCut {
  size_t index;              // of `held`
  absl::string_view reason;  // a label of the metric
};

// Of the process.
struct Pressure {
  int64_t memory;        // beside what connections and waiting calls that are allowed take
  int64_t streams = 0;   // that gRPC still holds of connections that were cut
  int64_t given_up = 0;  // calls whose caller has left, and that have not ended
};

// More `streams` than this of connections that were cut: enough to do for nobody.
inline constexpr int64_t kRemainsMax = 3000;

std::vector<FloodCut> WhomToCut(const std::vector<Held>& held, const Pressure& pressure);

// Of one connection: answers with tasks or lists that are on their way.
struct Unread {
  int64_t bytes = 0;
  absl::Duration stalled;  // it has read nothing for so long
};

// Whether their memory may be full soon.
bool IsCrowded(const std::vector<Unread>& unread);
// Who holds it then and reads nothing: most first, indexes of `unread`.
std::vector<size_t> WhoReadsNothing(const std::vector<Unread>& unread);

// Below this much nobody is looked at: a calm broker.
inline constexpr int64_t kCalmBytes = 128 << 20;

}  // namespace skiplane::rpc
