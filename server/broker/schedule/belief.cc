#include "server/broker/schedule/belief.h"

#include <algorithm>

namespace skiplane::broker {

Belief::Kind Belief::KindAt(base::SteadyTime now) const {
  if (count_ > 0) return Kind::kAtLeast;
  return empty_until_ > now ? Kind::kEmpty : Kind::kUnknown;
}

void Belief::Announced(int64_t count, bool are_ready) {
  announced_ += count;
  if (are_ready) Unasked(count);
}

// A statement that is under way may not have seen them: as if they had been announced.
void Belief::Due(int64_t guess) {
  announced_ += guess;
  count_ = std::max(count_, guess);
}

void Belief::Asked(int64_t count) {
  if (count_ == kPlenty) return;
  count_ = std::max<int64_t>(0, count_ - count);
  if (count_ == 0) empty_until_ = {};
}

void Belief::Unasked(int64_t count) { count_ = std::min(count_ + count, kPlenty); }

// A full answer leaves what else is known of. A short one says that nothing else is there, but for
// what was announced since it was sent.
void Belief::Leased(int64_t asked, int64_t got, bool is_cut, int64_t announced_before) {
  if (is_cut) {
    Unasked(asked - got);
  } else if (got < asked) {
    count_ = announced_ - announced_before;
  }
  if (count_ == 0) empty_until_ = {};
}

void Belief::Probed(int64_t announced_before, int64_t ready, base::SteadyTime empty_until) {
  if (ready > 0) {
    count_ = std::max(count_, std::min(ready, kPlenty));
  } else if (announced_ == announced_before) {
    count_ = 0;
    empty_until_ = empty_until;
  }
}

void Belief::Invalidate() { empty_until_ = {}; }

void Belief::Forget() {
  count_ = 0;
  empty_until_ = {};
}

}  // namespace skiplane::broker
