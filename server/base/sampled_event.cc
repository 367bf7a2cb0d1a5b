#include "server/base/sampled_event.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace skiplane::base {

bool SampledEvent::Take() {
  MutexLock lock(mutex_);
  return limit_.Allows(std::chrono::steady_clock::now());
}

void SampledEvent::Write(LogFields fields) {
  std::vector<LogField> all(fields);
  {
    MutexLock lock(mutex_);
    const int64_t left_out = limit_.TakeLeftOut();
    if (left_out > 0) all.emplace_back("left_out", absl::StrCat(left_out));
  }
  LogAll(LogLevel::kDebug, name_, all);
}

}  // namespace skiplane::base
