#include "server/net/suspects.h"

#include <algorithm>

namespace skiplane::net {

void Suspects::Add(const std::string& party, SteadyTime now) {
  base::MutexLock lock(mutex_);
  absl::erase_if(until_, [now](const auto& entry) { return entry.second <= now; });
  if (until_.size() <= kFew || until_.contains(party)) until_[party] = now + kFor;
}

bool Suspects::Has(const std::string& party, SteadyTime now) const {
  base::MutexLock lock(mutex_);
  const auto found = until_.find(party);
  if (found != until_.end() && found->second > now) return true;
  const auto lasts = [now](const auto& entry) { return entry.second > now; };
  return std::ranges::count_if(until_, lasts) > static_cast<int64_t>(kFew);
}

}  // namespace skiplane::net
