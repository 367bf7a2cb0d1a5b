// Stands for a Lease while its queues are still being read. Thread-safe.
#pragma once

#include <memory>

#include "server/base/mutex.h"
#include "server/broker/api/broker.h"

namespace skiplane::broker {

class DeferredLease : public PendingLease {
 public:
  void Cancel() override {
    std::shared_ptr<PendingLease> lease;
    {
      base::MutexLock lock(mutex_);
      is_cancelled_ = true;
      lease = lease_;
    }
    if (lease != nullptr) lease->Cancel();
  }

  // What it stood for. Once.
  void Become(std::shared_ptr<PendingLease> lease) {
    bool cancel = false;
    {
      base::MutexLock lock(mutex_);
      lease_ = lease;
      cancel = is_cancelled_;
    }
    if (cancel) lease->Cancel();
  }

 private:
  base::Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<PendingLease> lease_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
