// A queue and its settings as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/model/lease.h"
#include "server/model/retry.h"

namespace skiplane::model {

enum class HistoryPolicy : int16_t { kAll = 1, kFailures = 2, kNone = 3 };

// Whether many ordinary tasks may share one row.
enum class Packing : int16_t { kOff = 1, kAutomatic = 2 };

// What a pause stops; the bits of kLease and kEnqueue make kBoth.
enum class PauseMode : int16_t { kNone = 0, kLease = 1, kEnqueue = 2, kBoth = 3 };

// One step of a pipeline. What is unset is as in the queue's settings.
struct Stage {
  std::string name;
  std::optional<RetryPolicy> retry;
  std::optional<absl::Duration> lease_duration;
  std::optional<absl::Duration> max_run_duration;

  friend bool operator==(const Stage&, const Stage&) = default;
};

// What a queue takes at most; unset: no limit.
struct QueueLimits {
  std::optional<int64_t> max_depth;  // tasks that are not finished
  std::optional<int64_t> max_bytes;  // payloads and headers of those
  std::optional<double> max_enqueue_rate;  // tasks a second

  bool IsAny() const { return max_depth || max_bytes || max_enqueue_rate; }
  friend bool operator==(const QueueLimits&, const QueueLimits&) = default;
};

struct QueueSettings {
  RetryPolicy retry;
  HistoryPolicy history = HistoryPolicy::kAll;
  absl::Duration lease_duration = kLeaseDurationDefault;
  int32_t max_payload_bytes = kPayloadBytesMax;
  std::vector<Stage> stages;  // empty: one, without a name
  absl::Duration max_run_duration = kMaxRunDurationDefault;
  HistoryPolicy periodic_history = HistoryPolicy::kFailures;
  int32_t history_days = kHistoryDaysDefault;
  int32_t failed_days = kFailedDaysDefault;
  bool keep_payloads = false;
  bool keep_results = false;
  QueueLimits limits;
  Packing packing = Packing::kAutomatic;

  // Stages by their number, from 0. A number that the pipeline lacks has the queue's own values.
  const RetryPolicy& RetryOf(int16_t stage) const;
  absl::Duration LeaseDurationOf(int16_t stage) const;
  absl::Duration MaxRunDurationOf(int16_t stage) const;
  std::string StageName(int16_t stage) const;
  std::optional<int16_t> FindStage(absl::string_view name) const;
  // Whether tasks may be packed: packs have no stages, and their history has no payloads.
  bool Packs() const {
    return packing == Packing::kAutomatic && stages.empty() && !keep_payloads && !keep_results;
  }
  int16_t StageCount() const { return stages.empty() ? 1 : static_cast<int16_t>(stages.size()); }

  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

struct Queue {
  int64_t id = 0;
  std::string name;
  QueueSettings settings;
  std::vector<int64_t> lanes;  // in order; never empty
  PauseMode pause = PauseMode::kNone;
  std::string pause_reason;
  int64_t version = 0;  // changes with every update
  absl::Time create_time;
  absl::Time update_time;
  std::optional<SessionId> deletion{};  // the bulk operation that removes it

  bool IsDeleting() const { return deletion.has_value(); }
  // Whether nothing is leased: it is paused or being deleted.
  bool LeasesPaused() const { return IsDeleting() || (static_cast<int>(pause) & 1) != 0; }
  bool EnqueuesPaused() const { return (static_cast<int>(pause) & 2) != 0; }
};

struct QueueCounts {
  int64_t scheduled = 0;
  int64_t ready = 0;
  int64_t leased = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  int64_t cancelled = 0;
  int64_t moved = 0;  // acked, and the task lives on

  QueueCounts& operator+=(const QueueCounts& other);
  friend bool operator==(const QueueCounts&, const QueueCounts&) = default;
};

// The settings as the JSON text that the queue table holds, and back. Unknown members are ignored
// and missing ones take their defaults, so that brokers of two versions can share a database.
std::string SettingsToJson(const QueueSettings& settings);
absl::StatusOr<QueueSettings> SettingsFromJson(absl::string_view json);

// OK if `name` is [A-Za-z0-9][A-Za-z0-9._-]{0,127}; else INVALID_FIELD on `field`.
absl::Status CheckQueueName(absl::string_view name, absl::string_view field);

// OK if a queue of these settings may take the others: stages are added at the end only. Else
// INVALID_FIELD on `prefix` + "stages".
absl::Status CheckChange(const QueueSettings& from, const QueueSettings& to,
                         absl::string_view prefix);

// OK if every setting is in its range; else INVALID_FIELD on `prefix` + the setting's path.
absl::Status CheckSettings(const QueueSettings& settings, absl::string_view prefix);

}  // namespace skiplane::model
