#include "server/pg/backoff.h"

#include <algorithm>

namespace skiplane::pg {

std::chrono::milliseconds Backoff::Next() {
  std::uniform_int_distribution<std::chrono::milliseconds::rep> between(limit_.count() / 2,
                                                                        limit_.count());
  const std::chrono::milliseconds delay(between(random_));
  limit_ = std::min(limit_ * 2, kMost);
  return delay;
}

}  // namespace skiplane::pg
