#include "client/src/worker/check.h"

#include "client/src/worker/heart.h"

namespace skiplane::internal {

absl::Status Check(const WorkerOptions& options, const Handler& handler) {
  if (!handler) return absl::InvalidArgumentError("handler is empty");
  if (options.queues.empty() || options.queues.size() > 64) {
    return absl::InvalidArgumentError("queues must be 1 to 64");
  }
  if (options.concurrency < 1 || options.prefetch < 0 ||
      options.concurrency > kHeartbeatLeasesMax - options.prefetch) {
    return absl::InvalidArgumentError("concurrency must be 1 to 1000, with prefetch at most 1000");
  }
  if (options.lease_duration < absl::Seconds(1) || options.lease_duration > absl::Hours(12)) {
    return absl::InvalidArgumentError("lease_duration must be 1 s to 12 h");
  }
  if (options.wait < absl::ZeroDuration() || options.wait > absl::Seconds(60)) {
    return absl::InvalidArgumentError("wait must be 0 s to 60 s");
  }
  if (options.stop_grace < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("stop_grace must not be negative");
  }
  if (options.version.size() > 64) {
    return absl::InvalidArgumentError("version must be 0 to 64 bytes");
  }
  if (options.max_tasks < 0) return absl::InvalidArgumentError("max_tasks must not be negative");
  return absl::OkStatus();
}

}  // namespace skiplane::internal
