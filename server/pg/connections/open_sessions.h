// The sessions of a pool that work, and the time at which all of them are to end. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>

#include "absl/time/time.h"
#include "server/pg/session.h"

namespace skiplane::pg {

class OpenSessions {
 public:
  bool empty() const { return sessions_.empty(); }
  size_t size() const { return sessions_.size(); }

  void Add(Session& session) {
    sessions_.insert(&session);
    if (end_ != Clock::time_point::max()) End(session);
  }
  void Remove(Session& session) { sessions_.erase(&session); }

  // Also those that are added later. An earlier end stays.
  void EndWithin(absl::Duration rest) {
    end_ = std::min(end_, Clock::now() + absl::ToChronoNanoseconds(rest));
    for (Session* const session : sessions_) End(*session);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void End(Session& session) const { session.EndWithin(absl::FromChrono(end_ - Clock::now())); }

  std::set<Session*> sessions_;
  Clock::time_point end_ = Clock::time_point::max();
};

}  // namespace skiplane::pg
