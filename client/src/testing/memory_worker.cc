#include "client/src/testing/memory_worker.h"

namespace skiplane::internal {

absl::Status MemoryWorker::WaitForEnd() {
  state_->RunUntilIdle();
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (crew_->HasReachedItsNumber()) return absl::OkStatus();
  if (crew_->is_stopped) return absl::CancelledError("the worker was stopped");
  if (crew_->options.burst) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "nothing is ready, and no end is set: the worker would wait for ever");
}

}  // namespace skiplane::internal
