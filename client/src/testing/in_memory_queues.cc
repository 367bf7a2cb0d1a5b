// What operators ask of an InMemoryBroker.
#include <mutex>

#include "client/src/testing/checks.h"
#include "client/src/testing/memory_state.h"
#include "skiplane/testing.h"

namespace skiplane {

using Lock = std::lock_guard<std::mutex>;

absl::StatusOr<Queue> InMemoryBroker::CreateQueue(absl::string_view name) {
  const Lock lock(state_->mutex);
  return state_->store.queues().Create(name, state_->store.now());
}

absl::StatusOr<Queue> InMemoryBroker::CreateQueue(absl::string_view name,
                                                  const QueueSettings& settings, int lane_count) {
  const Lock lock(state_->mutex);
  return state_->store.queues().Create(name, settings, lane_count, state_->store.now());
}

absl::StatusOr<Queue> InMemoryBroker::GetQueue(absl::string_view name) {
  const Lock lock(state_->mutex);
  const auto found = state_->store.queues().Get(name);
  if (!found.ok()) return found.status();
  Queue queue = **found;
  queue.counts = state_->store.Count(name);
  return queue;
}

absl::StatusOr<std::vector<Queue>> InMemoryBroker::ListQueues() {
  const Lock lock(state_->mutex);
  return state_->store.queues().List();
}

absl::StatusOr<Queue> InMemoryBroker::UpdateQueue(absl::string_view name,
                                                  const QueueSettings& settings,
                                                  absl::string_view etag) {
  const Lock lock(state_->mutex);
  return state_->store.queues().Update(name, settings, etag, state_->store.now());
}

absl::StatusOr<Queue> InMemoryBroker::PauseQueue(absl::string_view name, PauseMode mode,
                                                 absl::string_view reason) {
  if (mode == PauseMode::kNone) return internal::InvalidField("mode", "must be set");
  const Lock lock(state_->mutex);
  return state_->store.queues().SetPause(name, mode, reason, state_->store.now());
}

absl::StatusOr<Queue> InMemoryBroker::ResumeQueue(absl::string_view name) {
  const Lock lock(state_->mutex);
  return state_->store.queues().SetPause(name, PauseMode::kNone, "", state_->store.now());
}

}  // namespace skiplane
