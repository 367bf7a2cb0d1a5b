#include "server/base/rare_event.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace skiplane::base {

bool RareEvent::WantedAt(std::chrono::steady_clock::time_point now) {
  MutexLock lock(mutex_);
  if (has_been_ && now - last_ < kEvery) {
    ++left_out_;
    return false;
  }
  has_been_ = true;
  last_ = now;
  return true;
}

void RareEvent::Write(LogLevel level, LogFields fields) {
  std::vector<LogField> all(fields);
  {
    MutexLock lock(mutex_);
    if (const int64_t count = std::exchange(left_out_, 0); count > 0) {
      all.emplace_back("left_out", absl::StrCat(count));
    }
  }
  LogAll(level, name_, all);
}

}  // namespace skiplane::base
