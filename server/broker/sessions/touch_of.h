// How a call's worker session is made or moved. A pure function.
#pragma once

#include <chrono>

#include "server/broker/api/calls.h"
#include "server/store/sessions.h"

namespace skiplane::broker {

// To live for `duration`, and `ahead` longer.
inline store::Touch TouchOf(const LeaseCall& call, absl::Duration duration, absl::Duration ahead) {
  return {.worker_id = call.worker_id,
          .worker_name = call.worker_name,
          .new_id = model::NewSessionId(),
          .duration = duration,
          .ahead = ahead,
          .age = absl::FromChrono(std::chrono::steady_clock::now() - call.began),
          .client_version = call.client_version,
          .concurrency = call.concurrency};
}

}  // namespace skiplane::broker
