#include "server/broker/batch/answer_memory.h"

#include <utility>

#include "server/base/mutex.h"

namespace skiplane::broker {

struct AnswerMemory::State {
  explicit State(int64_t most) : bytes_max(most) {}

  void Release(int64_t freed) {
    base::MutexLock lock(mutex);
    const bool was_full = bytes >= bytes_max;
    bytes -= freed;
    if (was_full && bytes < bytes_max && on_room) on_room();
  }

  const int64_t bytes_max;
  mutable base::Mutex mutex;
  int64_t bytes ABSL_GUARDED_BY(mutex) = 0;
  absl::AnyInvocable<void()> on_room ABSL_GUARDED_BY(mutex);
};

AnswerMemory::AnswerMemory(int64_t bytes_max, absl::AnyInvocable<void()> on_room)
    : state_(std::make_shared<State>(bytes_max)) {
  base::MutexLock lock(state_->mutex);
  state_->on_room = std::move(on_room);
}

AnswerMemory::~AnswerMemory() {
  base::MutexLock lock(state_->mutex);
  state_->on_room = nullptr;
}

std::shared_ptr<const void> AnswerMemory::Hold(int64_t bytes) {
  {
    base::MutexLock lock(state_->mutex);
    state_->bytes += bytes;
  }
  return {state_.get(), [state = state_, bytes](const void*) { state->Release(bytes); }};
}

bool AnswerMemory::IsFull() const {
  base::MutexLock lock(state_->mutex);
  return state_->bytes >= state_->bytes_max;
}

}  // namespace skiplane::broker
