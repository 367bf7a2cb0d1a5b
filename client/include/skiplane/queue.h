// A queue and what an operator may set on it: plain values, used by the administrative calls of
// Client. The defaults here are the broker's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace skiplane {

// How the delay before the next attempt is computed from the number n of the attempt that failed.
enum class RetryKind {
  kLinear,       // base_delay x n: 5, 10, 15 minutes with the default base
  kFixed,        // base_delay
  kExponential,  // base_delay x factor ^ (n - 1)
  kTable,        // delays[n - 1]; the last entry repeats
};

struct RetryPolicy {
  RetryKind kind = RetryKind::kLinear;
  // 0 to 24 h.
  absl::Duration base_delay = absl::Minutes(5);
  // 1.0 to 10.0.
  double factor = 2.0;
  // No delay is longer than this. 1 s to 24 h.
  absl::Duration max_delay = absl::Hours(24);
  // The delays of kTable: 1 to 100 entries, each 0 to 24 h.
  std::vector<absl::Duration> delays{};
  // Spreads each delay evenly over +- this share of it. 0.0 to 0.5.
  double jitter = 0;
  // Attempts of a task without a number of its own. 1 to 1000.
  int max_attempts = 10;
};

// Which finished attempts leave a history row.
enum class HistoryPolicy { kAll, kFailures, kNone };

// Whether many ordinary tasks may share one row of the database: what they do is the same, and
// enqueues and leases of many tasks cost less.
enum class Packing { kOff, kAutomatic };

// One step of a queue's pipeline. Unset fields take the queue's values.
struct Stage {
  // By which workers lease and acks advance, unique in the queue. [A-Za-z0-9][A-Za-z0-9._-]{0,63}
  std::string name{};
  // max_attempts are attempts of this stage.
  std::optional<RetryPolicy> retry{};
  // 1 s to 12 h.
  std::optional<absl::Duration> lease_duration{};
  // 1 s to 30 days.
  std::optional<absl::Duration> max_run_duration{};
};

struct QueueSettings {
  RetryPolicy retry{};
  HistoryPolicy history = HistoryPolicy::kAll;
  // That of periodic tasks.
  HistoryPolicy periodic_history = HistoryPolicy::kFailures;
  // The lease duration of a Lease call that names none. 1 s to 12 h.
  absl::Duration lease_duration = absl::Seconds(30);
  // The largest payload that Enqueue accepts. 1 to 1048576.
  int max_payload_bytes = 1 << 20;
  // The pipeline, in order: 0 to 100. Stages may be added at the end and renamed, never removed.
  std::vector<Stage> stages{};
  // An attempt that runs longer loses its task, even with heartbeats. 1 s to 30 days.
  absl::Duration max_run_duration = absl::Hours(1);
  // How many days history rows and keys of finished tasks are kept, and FAILED tasks with their
  // payloads. 1 to 400.
  int history_days = 7;
  int failed_days = 30;
  // Whether history rows hold the payload that the attempt ran with, and the result of its ack.
  bool keep_payloads = false;
  bool keep_results = false;
  // A broker before 0.2 knows none, and packs nothing: what is read of it is kAutomatic.
  Packing packing = Packing::kAutomatic;
  // Above these Enqueue is refused as RESOURCE_EXHAUSTED, which Client repeats for a while: tasks
  // that are not finished, the bytes of their payloads and headers (QUEUE_FULL), tasks a second at
  // each broker (ENQUEUE_RATE_EXCEEDED). Unset: no limit.
  std::optional<int64_t> max_depth{};
  std::optional<int64_t> max_bytes{};
  std::optional<double> max_enqueue_rate{};
};

// What a pause stops. Running attempts always go on.
enum class PauseMode { kNone, kLease, kEnqueue, kBoth };

// Exact counters; the border between scheduled and ready is exact to 10 seconds.
struct QueueCounts {
  int64_t scheduled = 0;
  int64_t ready = 0;
  int64_t leased = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  int64_t cancelled = 0;
};

struct Queue {
  // [A-Za-z0-9][A-Za-z0-9._-]{0,127}
  std::string name{};
  QueueSettings settings{};
  int lane_count = 1;
  PauseMode pause_mode = PauseMode::kNone;
  std::string pause_reason{};
  absl::Time create_time{};
  absl::Time update_time{};
  // Changes with every update; see Client::UpdateQueue.
  std::string etag{};
  // Filled by GetQueue only.
  QueueCounts counts{};
};

}  // namespace skiplane
