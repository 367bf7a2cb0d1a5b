// What this broker knows of worker sessions: their ids, and until when they are alive for certain.
//
// "Until when" is counted on the steady clock, from before the statement was sent that returned the
// rest of the session. So it is never later than the database's own end. A lease whose session
// lasts long enough by that measure needs no statement to renew it. Thread-safe; bounded: beyond
// `sessions_max` the cache starts again empty, which costs statements and nothing else.
#pragma once

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/model/lease.h"

namespace skiplane::broker {

// A session is moved this much further than asked, so that a busy worker renews it once a second
// and not with every call. It is also how much later than promised a silent worker is noticed.
absl::Duration SessionAhead(absl::Duration duration);

class SessionCache {
 public:
  explicit SessionCache(size_t sessions_max) : sessions_max_(sessions_max) {}

  struct Entry {
    model::SessionId id{};
    base::SteadyTime lives_until;
    base::SteadyTime sent;  // the statement that told it
    model::WorkerCommand command = model::WorkerCommand::kRun;
  };

  // The session of a worker if it surely lives for `duration` from now. No longer believed than its
  // slack: what remains is much too long when the database's clock went back.
  std::optional<Entry> FindLiving(const std::string& worker_id, absl::Duration duration) const;

  // The session of a worker if it surely lives now, as was told within the last second.
  std::optional<Entry> FindFresh(const std::string& worker_id) const;

  // The session of a worker if it may live: whoever uses it has the database look.
  std::optional<Entry> Find(const std::string& worker_id) const;

  // As the database said in answer to a statement that was sent at `sent`.
  void Learn(const std::string& worker_id, const model::SessionId& id, base::SteadyTime sent,
             absl::Duration remaining,
             model::WorkerCommand command = model::WorkerCommand::kRun);

  void Forget(const std::string& worker_id);

 private:
  const size_t sessions_max_;
  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
