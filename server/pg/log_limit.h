// Keeps what fails again and again from filling the log. Thread-safe.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"

namespace skiplane::pg {

class LogLimit {
 public:
  // Whether a line with this text may be written now: the first one, and one in ten seconds.
  bool Allows(absl::string_view text);

 private:
  base::Mutex mutex_;
  absl::flat_hash_map<std::string, absl::Time> written_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::pg
