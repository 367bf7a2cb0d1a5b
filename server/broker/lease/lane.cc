#include "server/broker/lease/lane.h"

#include <algorithm>
#include <utility>

namespace skiplane::broker {
namespace {

constexpr std::chrono::milliseconds kErrorPause(200);
constexpr int64_t kExpectedWhenDue = 16;  // tasks that a due time makes free, at a guess

}  // namespace

void Lane::Committed(const store::Claimable& claimable) {
  bounds.Lower(claimable.priority, claimable.run_at);
  committed += claimable.count;
  if (claimable.can_run) expected = std::min(expected + claimable.count, kMany);
}

void Lane::Passed(base::SteadyTime now) {
  if (next_due > now) return;
  next_due = base::SteadyTime::max();
  is_exact = false;
  expected = std::max(expected, kExpectedWhenDue);
}

int64_t Lane::Ask(int64_t asked) {
  if (expected < kMany) expected = std::max<int64_t>(0, expected - asked);
  return committed;
}

void Lane::Unask(int64_t asked) { expected = std::min(expected + asked, kMany); }

// A short answer says that what was believed is not there; a full one, that more may be there than
// was known of.
void Lane::Got(int64_t asked, int64_t got, bool is_cut, int64_t committed_before) {
  if (got < asked && !is_cut) {
    if (expected == kMany || !is_exact) expected = committed - committed_before;
    is_exact = true;
  } else {
    if (is_cut && expected < kMany) expected += asked - got;
    if (expected == 0 && !is_exact) expected = 2 * asked;
  }
  if (expected == 0) certain_until = {};
}

void Lane::Looked(int64_t committed_before, int64_t free, base::SteadyTime certain) {
  is_known = true;
  if (free > 0) {
    is_exact = is_exact && expected > 0;
    expected = std::max(expected, free);
  } else if (committed == committed_before) {
    certain_until = certain;
  }
}

void Lane::Distrust() {
  bounds.Reset();
  certain_until = {};
  look_allowed = {};
}

void Lane::Failed(absl::Status status, base::SteadyTime now) {
  error = std::move(status);
  Distrust();
  look_allowed = now + kErrorPause;
}

}  // namespace skiplane::broker
