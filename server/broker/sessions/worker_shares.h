// How many sessions the workers of a party have, as far as calls of this broker made them or moved
// their end: sessions may last for hours, and all of them are looked through for lost ones. One
// that was ended stays as a row until its end would have come. Calls without a worker_id do not
// count.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"

namespace skiplane::broker {

// Of one party at one broker: a fleet of 10,000 workers that begins anew, with new ids, each hour,
// and leases for twelve.
inline constexpr size_t kWorkersOfPartyMax = 150000;

class WorkerShares {
 public:
  explicit WorkerShares(size_t of_party_max = kWorkersOfPartyMax) : of_party_max_(of_party_max) {}

  // The worker's session may live for so long from now; zero: as long as it asked for before.
  // TOO_MANY_WORKERS if that would be one session more than a party may have, with a hint when one
  // of the others runs out.
  absl::Status Take(const std::string& party, const std::string& worker_id, base::SteadyTime now,
                    absl::Duration lives);

  // The same of a worker that ends its session: its next one is another.
  absl::Status TakeEnd(const std::string& party, const std::string& worker_id,
                       base::SteadyTime now);

  // That are remembered.
  size_t parties() const {
    base::MutexLock lock(mutex_);
    return parties_.size();
  }

 private:
  struct Session {
    base::SteadyTime end;
    absl::Duration lives;
  };
  struct Party {
    // By the hash of the worker's id; of ended ones by one of its own.
    absl::flat_hash_map<uint64_t, Session> sessions;
    size_t look_at = 1000;  // when there are as many, those that ran out are removed
    base::SteadyTime full_until;
  };

  absl::StatusOr<Session*> Find(Party& party, uint64_t worker, base::SteadyTime now) const;
  Party& PartyOf(const std::string& name, base::SteadyTime now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes those that ran out.
  void Clean(Party& party, base::SteadyTime now) const;

  const size_t of_party_max_;
  mutable base::Mutex mutex_;
  uint64_t ended_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, Party> parties_ ABSL_GUARDED_BY(mutex_);
  size_t look_at_ ABSL_GUARDED_BY(mutex_) = 1000;  // parties
};

}  // namespace skiplane::broker
