#include "server/broker/batch/answer_memory.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "server/base/mutex.h"
#include "server/base/part.h"

namespace skiplane::broker {

struct AnswerMemory::State {
  explicit State(Limits limits)
      : bytes_max(limits.bytes), part(base::PartOf(limits.bytes, limits.party_share)) {}

  void Add(const std::string& party, int64_t bytes) {
    base::MutexLock lock(mutex);
    int64_t& of_party = by_party[party];
    counted += std::min(of_party + bytes, part) - std::min(of_party, part);
    of_party += bytes;
    if (of_party >= part) full.insert(party);
  }

  void Release(const std::string& party, int64_t bytes) {
    base::MutexLock lock(mutex);
    const bool was_full = counted >= bytes_max;
    int64_t& of_party = by_party[party];  // another answer of no bytes may have erased it
    counted -= std::min(of_party, part) - std::min(of_party - bytes, part);
    of_party -= bytes;
    bool has_room = was_full && counted < bytes_max;
    if (of_party < part) has_room |= full.erase(party) > 0;
    if (of_party == 0) by_party.erase(party);
    if (has_room && on_room) on_room();
  }

  const int64_t bytes_max;
  const int64_t part;
  mutable base::Mutex mutex;
  int64_t counted ABSL_GUARDED_BY(mutex) = 0;  // of each party its part at most
  absl::flat_hash_map<std::string, int64_t> by_party ABSL_GUARDED_BY(mutex);
  absl::flat_hash_set<std::string> full ABSL_GUARDED_BY(mutex);  // parties that have their part
  absl::AnyInvocable<void()> on_room ABSL_GUARDED_BY(mutex);
};

AnswerMemory::AnswerMemory(Limits limits, absl::AnyInvocable<void()> on_room)
    : state_(std::make_shared<State>(limits)) {
  base::MutexLock lock(state_->mutex);
  state_->on_room = std::move(on_room);
}

AnswerMemory::~AnswerMemory() {
  base::MutexLock lock(state_->mutex);
  state_->on_room = nullptr;
}

std::shared_ptr<const void> AnswerMemory::Hold(const std::string& party, int64_t bytes) {
  state_->Add(party, bytes);
  return {state_.get(),
          [state = state_, party, bytes](const void*) { state->Release(party, bytes); }};
}

bool AnswerMemory::IsFullFor(const std::string& party) const {
  base::MutexLock lock(state_->mutex);
  return state_->counted >= state_->bytes_max || state_->full.contains(party);
}

AnswerMemory::Full AnswerMemory::WhoIsFull() const {
  base::MutexLock lock(state_->mutex);
  return {state_->counted >= state_->bytes_max, state_->full};
}

}  // namespace skiplane::broker
