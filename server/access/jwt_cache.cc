#include "server/access/jwt_cache.h"

#include <utility>

namespace skiplane::access {

std::shared_ptr<const Principal> JwtCache::Find(const Digest& token, absl::Time now) {
  const base::MutexLock lock(mutex_);
  const auto found = entries_.find(token);
  if (found == entries_.end()) return nullptr;
  if (now < found->second.expiry) return found->second.principal;
  entries_.erase(found);
  return nullptr;
}

void JwtCache::Remember(const Digest& token, std::shared_ptr<const Principal> principal,
                        absl::Time expiry) {
  const base::MutexLock lock(mutex_);
  if (!entries_.emplace(token, Entry{std::move(principal), expiry}).second) return;
  order_.push_back(token);
  if (order_.size() <= size_max_) return;
  entries_.erase(order_.front());
  order_.pop_front();
}

size_t JwtCache::size() {
  const base::MutexLock lock(mutex_);
  return entries_.size();
}

}  // namespace skiplane::access
