// Failures that are the same fault, as operators see them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace skiplane::model {

// What operators say of an error group.
struct ErrorNote {
  std::string text;
  bool is_muted = false;
  std::string actor;
  absl::Time update_time;
};

struct ErrorGroup {
  std::string fingerprint;
  int16_t stage = 0;
  std::string type;
  std::string text;
  int64_t retrying = 0;
  int64_t failed = 0;
  absl::Time first_seen_time;
  absl::Time last_seen_time;
  std::vector<std::string> task_ids;
  int64_t queue = 0;  // the first lane of its queue
  std::optional<ErrorNote> note;
  std::vector<int64_t> hourly_failures;  // the oldest first; the last hour is that of now
};

}  // namespace skiplane::model
