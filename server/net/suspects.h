// The parties whose connections were cut a moment ago: see SocketAddress::Party(). When they are
// many, everybody is one: an attack may come from any address. Thread-safe.
#pragma once

#include <chrono>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "server/base/mutex.h"

namespace skiplane::net {

class Suspects {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kFor{10};  // after the last cut
  static constexpr size_t kFew = 16;

  void Add(const std::string& party, SteadyTime now);
  bool Has(const std::string& party, SteadyTime now) const;

 private:
  mutable base::Mutex mutex_;
  // At most kFew + 1: with so many it does not matter who.
  absl::flat_hash_map<std::string, SteadyTime> until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::net
