// What a worker cannot be started with.
#pragma once

#include "absl/status/status.h"
#include "skiplane/result.h"
#include "skiplane/worker_options.h"

namespace skiplane::internal {

// INVALID_ARGUMENT for what is out of range.
absl::Status Check(const WorkerOptions& options, const Handler& handler);

}  // namespace skiplane::internal
