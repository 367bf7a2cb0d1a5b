#include "server/broker/session_cache.h"

#include <algorithm>

namespace skiplane::broker {

absl::Duration SessionAhead(absl::Duration duration) {
  return std::min(absl::Seconds(1), duration / 4);
}

std::optional<SessionCache::Entry> SessionCache::FindLiving(const std::string& worker_id,
                                                            absl::Duration duration) const {
  base::MutexLock lock(mutex_);
  const auto found = entries_.find(worker_id);
  if (found == entries_.end()) return std::nullopt;
  const auto needed = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(duration);
  if (found->second.lives_until < needed) return std::nullopt;
  return found->second;
}

void SessionCache::Learn(const std::string& worker_id, const model::SessionId& id,
                         base::SteadyTime sent, absl::Duration remaining) {
  base::MutexLock lock(mutex_);
  if (entries_.size() >= sessions_max_) entries_.clear();
  entries_[worker_id] = {id, sent + absl::ToChronoNanoseconds(remaining)};
}

void SessionCache::Forget(const std::string& worker_id) {
  base::MutexLock lock(mutex_);
  entries_.erase(worker_id);
}

}  // namespace skiplane::broker
