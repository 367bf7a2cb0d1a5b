#include "server/broker/sessions/session_cache.h"

#include <algorithm>

namespace skiplane::broker {
namespace {

constexpr std::chrono::seconds kFresh(1);

}  // namespace

absl::Duration SessionAhead(absl::Duration duration) {
  return std::min(absl::Seconds(1), duration / 4);
}

std::optional<SessionCache::Entry> SessionCache::Find(const std::string& worker_id) const {
  base::MutexLock lock(mutex_);
  const auto found = entries_.find(worker_id);
  if (found == entries_.end()) return std::nullopt;
  if (found->second.lives_until <= std::chrono::steady_clock::now()) return std::nullopt;
  return found->second;
}

std::optional<SessionCache::Entry> SessionCache::FindLiving(const std::string& worker_id,
                                                            absl::Duration duration) const {
  const std::optional<Entry> entry = Find(worker_id);
  const base::SteadyTime now = std::chrono::steady_clock::now();
  if (!entry || entry->lives_until < now + absl::ToChronoNanoseconds(duration)) return std::nullopt;
  if (entry->sent + absl::ToChronoNanoseconds(SessionAhead(duration)) < now) return std::nullopt;
  return entry;
}

std::optional<SessionCache::Entry> SessionCache::FindFresh(const std::string& worker_id) const {
  const std::optional<Entry> entry = Find(worker_id);
  if (!entry || entry->sent + kFresh < std::chrono::steady_clock::now()) return std::nullopt;
  return entry;
}

void SessionCache::Learn(const std::string& worker_id, const model::SessionId& id,
                         base::SteadyTime sent, absl::Duration remaining,
                         model::WorkerCommand command) {
  base::MutexLock lock(mutex_);
  if (entries_.size() >= sessions_max_) entries_.clear();
  entries_[worker_id] = {id, sent + absl::ToChronoNanoseconds(remaining), sent, command};
}

void SessionCache::Forget(const std::string& worker_id) {
  base::MutexLock lock(mutex_);
  entries_.erase(worker_id);
}

}  // namespace skiplane::broker
