// How long to wait after an answer that says that one may not call. It grows with each such answer
// in a row, as a new token or rule comes from people. Not thread-safe.
#pragma once

#include <algorithm>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace skiplane::internal {

class DenialPause {
 public:
  // Zero after any other answer.
  absl::Duration After(const absl::Status& status) {
    const bool is_denied = absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status);
    pause_ = is_denied ? std::clamp(pause_ * 2, absl::Seconds(1), absl::Seconds(10))
                       : absl::ZeroDuration();
    return pause_;
  }

 private:
  absl::Duration pause_ = absl::ZeroDuration();
};

}  // namespace skiplane::internal
