// What was last seen of each queue, from the sampler: so that who looks at all queues asks the
// database for counts only. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/broker/api/report_calls.h"

namespace skiplane::broker {

class QueueWatch {
 public:
  using Looks = absl::flat_hash_map<int64_t, QueueLook>;  // by the queue's id

  // All queues, instead of those before.
  void Set(Looks looks);

  // Of queues that are too new to have been seen, there is nothing.
  std::shared_ptr<const Looks> Last() const;

 private:
  mutable base::Mutex mutex_;
  std::shared_ptr<const Looks> looks_ ABSL_GUARDED_BY(mutex_) = std::make_shared<const Looks>();
};

}  // namespace skiplane::broker
