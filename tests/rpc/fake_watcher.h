// A QueueWatcher that tells of no queue once, and then waits. As a real one, it may be ended before
// it is asked.
#pragma once

#include <utility>

#include "server/base/mutex.h"
#include "server/broker/api/watch_calls.h"

namespace skiplane::rpc {

class FakeWatcher final : public broker::QueueWatcher {
 public:
  // `first`: what the first Next() is answered with, if not OK.
  explicit FakeWatcher(absl::Status first) : first_(std::move(first)) {}

  void Next(broker::Callback<broker::QueueChanges> done) override {
    if (!std::exchange(was_asked_, true)) {
      if (!first_.ok()) return done(first_);
      return done(broker::QueueChanges());
    }
    {
      base::MutexLock lock(mutex_);
      if (!has_ended_) {
        done_ = std::move(done);
        return;
      }
    }
    done(absl::CancelledError("it has ended"));
  }
  void End() override {
    broker::Callback<broker::QueueChanges> done;
    {
      base::MutexLock lock(mutex_);
      has_ended_ = true;
      done = std::exchange(done_, nullptr);
    }
    if (done != nullptr) done(absl::CancelledError("it has ended"));
  }

 private:
  const absl::Status first_;
  bool was_asked_ = false;
  base::Mutex mutex_;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  broker::Callback<broker::QueueChanges> done_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::rpc
