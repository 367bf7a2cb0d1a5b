// A queue and its settings as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/model/retry.h"

namespace skiplane::model {

enum class HistoryPolicy : int16_t { kAll = 1, kFailures = 2, kNone = 3 };

// What a pause stops; the bits of kLease and kEnqueue make kBoth.
enum class PauseMode : int16_t { kNone = 0, kLease = 1, kEnqueue = 2, kBoth = 3 };

struct QueueSettings {
  RetryPolicy retry;
  HistoryPolicy history = HistoryPolicy::kAll;
  absl::Duration lease_duration = kLeaseDurationDefault;
  int32_t payload_bytes_max = kPayloadBytesMax;

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

  bool LeasesPaused() const { return (static_cast<int>(pause) & 1) != 0; }
  bool EnqueuesPaused() const { return (static_cast<int>(pause) & 2) != 0; }
};

struct QueueCounts {
  int64_t scheduled = 0;
  int64_t ready = 0;
  int64_t leased = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
};

// The settings as the JSON text that the queue table holds, and back. Unknown members are ignored
// and missing ones take their defaults, so that brokers of two versions can share a database.
std::string SettingsToJson(const QueueSettings& settings);
absl::StatusOr<QueueSettings> SettingsFromJson(absl::string_view json);

// OK if `name` is [A-Za-z0-9][A-Za-z0-9._-]{0,127}; else INVALID_FIELD on `field`.
absl::Status CheckQueueName(absl::string_view name, absl::string_view field);

// OK if every setting is in its range; else INVALID_FIELD on `prefix` + the setting's path.
absl::Status CheckSettings(const QueueSettings& settings, absl::string_view prefix);

}  // namespace skiplane::model
