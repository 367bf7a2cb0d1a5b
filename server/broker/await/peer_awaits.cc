#include "server/broker/await/peer_awaits.h"

#include <utility>

namespace skiplane::broker {

void PeerAwaits::Add(int64_t lane, absl::Span<const int64_t> tasks, base::SteadyTime now) {
  base::MutexLock lock(mutex_);
  TurnLocked(now);
  for (const int64_t task : tasks) {
    if (tasks_[0].size() + tasks_[1].size() >= most_) break;
    tasks_[0].insert({lane, task});
  }
  Count();
}

void PeerAwaits::Turn(base::SteadyTime now) {
  if (is_empty_) return;
  base::MutexLock lock(mutex_);
  TurnLocked(now);
  Count();
}

std::vector<int64_t> PeerAwaits::Take(int64_t lane, absl::Span<const int64_t> tasks) {
  std::vector<int64_t> awaited;
  if (is_empty_ || tasks.empty()) return awaited;
  base::MutexLock lock(mutex_);
  for (const int64_t task : tasks) {
    const model::TaskId id{lane, task};
    if (tasks_[0].erase(id) + tasks_[1].erase(id) > 0) awaited.push_back(task);
  }
  if (!awaited.empty()) Count();
  return awaited;
}

void PeerAwaits::TurnLocked(base::SteadyTime now) {
  if (now - turn_ <= absl::ToChronoNanoseconds(2 * model::kWaitMax)) return;
  tasks_[1] = std::exchange(tasks_[0], Tasks());
  turn_ = now;
}

void PeerAwaits::Count() {
  const size_t count = tasks_[0].size() + tasks_[1].size();
  is_empty_ = count == 0;
  metrics_.SetAwaitedByPeers(static_cast<int64_t>(count));
}

}  // namespace skiplane::broker
