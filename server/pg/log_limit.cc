#include "server/pg/log_limit.h"

#include "absl/time/clock.h"

namespace skiplane::pg {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(10);
constexpr size_t kTextsMax = 100;  // more are made by a changing word, and not worth their memory

}  // namespace

bool LogLimit::Allows(absl::string_view text) {
  const absl::Time now = absl::Now();
  base::MutexLock lock(mutex_);
  if (written_.size() >= kTextsMax && !written_.contains(text)) written_.clear();
  const auto [last, is_new] = written_.try_emplace(std::string(text), now);
  if (!is_new && now - last->second < kInterval) return false;
  last->second = now;
  return true;
}

}  // namespace skiplane::pg
