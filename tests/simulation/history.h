// What happens to a simulated installation from outside, made from a seed: it can be printed, and
// parts of it can be left out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skiplane::simulation {

using Span = std::chrono::milliseconds;

struct Input {
  enum class Kind {
    kEnqueue,      // `count` tasks of `priority` at the lane stage `what`, due after `span`
    kCall,         // waits for `span` (0: not at all) for `count` tasks of the lane stages `wanted`
    kCancel,       // the caller of the call `number` goes away
    kPause,        // the queue `what`, for `span`
    kOutage,       // the broker has no connection for `span`, and hears nothing
    kDeaf,         // it hears no notification for `span`, and knows it
    kMemoryFull,   // its callers do not read, for `span`
    kClock,        // the database's clock jumps by `span`
    kDrain,        // the broker ends
  };
  Kind kind = Kind::kEnqueue;
  Span at{};
  int broker = 0;  // of kEnqueue: -1 is a client of the database
  int what = 0;
  int priority = 0;
  int count = 1;
  Span span{};
  std::vector<int> wanted{};
  int number = 0;   // of a call
  int request = 0;  // its request id; 0: none
  int principal = 0;
  int worker = 0;  // of the principal; 0: not named
};

struct History {
  uint64_t seed = 0;
  uint64_t luck = 0;  // another one gives other delays and failures with the same inputs
  int brokers = 1;
  int queues = 1;
  int lanes_each = 1;
  int stages_each = 1;
  int slowest = 12;  // ms that a way to the database or back takes
  int rescan = 0;    // ms that a rescan takes, at most: it passes dead rows
  // In 1,000.
  int lost = 0;        // notifications that are lost, or come twice or late
  int failing = 0;     // statements
  int lease_next = 0;  // acks that lease in their transaction
  int hand_off = 0;    // enqueues that may lease what they make
  int packing = 0;     // enqueues of many tasks that make packs
  int returned = 100;  // tasks, by workers that do not do them
  int dying = 0;       // workers
  std::vector<Input> inputs;

  int lane_stages() const { return queues * lanes_each * stages_each; }
};

History MakeHistory(uint64_t seed);

// A line per input, after one for all of them; and back. Nothing: it is no history.
std::string Print(const Input& input);
std::string Print(const History& history);
std::optional<History> Parse(const std::string& text);

}  // namespace skiplane::simulation
