// JSON Web Tokens that were verified, by their SHA-256: checking a signature takes about 50
// microseconds, and a caller sends the same token with each call.
//
// Remembers up to `size_max` of them, each until its expiry, and forgets the one that came first
// when there is no room. A refused token is not remembered: whoever sends wrong ones could else
// push out the right ones. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/access/digest.h"
#include "server/access/principal.h"
#include "server/base/mutex.h"

namespace skiplane::access {

class JwtCache {
 public:
  explicit JwtCache(size_t size_max) : size_max_(size_max) {}

  // Null if the token is not remembered or has expired.
  std::shared_ptr<const Principal> Find(const Digest& token, absl::Time now);

  void Remember(const Digest& token, std::shared_ptr<const Principal> principal,
                absl::Time expiry);

  size_t size();

 private:
  struct Entry {
    std::shared_ptr<const Principal> principal;
    absl::Time expiry;
  };

  const size_t size_max_;
  base::Mutex mutex_;
  absl::flat_hash_map<Digest, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // In the order in which they came; some may be gone from the map.
  std::deque<Digest> order_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::access
