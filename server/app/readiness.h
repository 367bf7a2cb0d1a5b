// Joins two facts that come at different times and on different threads: the gRPC front stands, and
// the database can be reached. Both together are "ready", which the metrics show. Thread-safe.
#pragma once

#include "server/base/mutex.h"
#include "server/metrics/metrics.h"
#include "server/rpc/serve/server.h"

namespace skiplane::app {

class Readiness {
 public:
  // `metrics` outlives the object.
  explicit Readiness(metrics::Metrics& metrics) : metrics_(metrics) {}

  void SetConnected(bool connected) {
    base::MutexLock lock(mutex_);
    is_connected_ = connected;
    metrics_.SetDatabaseUp(connected);
    Tell();
  }

  // From now on it is not ready, whatever comes. The server tells that by itself.
  void BeginDrain() {
    base::MutexLock lock(mutex_);
    is_draining_ = true;
    metrics_.SetReady(false);
  }

  bool IsReady() {
    base::MutexLock lock(mutex_);
    return server_ != nullptr && is_connected_ && !is_draining_;
  }

  // `server` outlives this object, or is taken away by SetServer(nullptr).
  void SetServer(rpc::Server* server) {
    base::MutexLock lock(mutex_);
    server_ = server;
    Tell();
  }

 private:
  void Tell() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    // First the gauge: whoever sees in the health service that the broker is ready may look at it.
    metrics_.SetReady(server_ != nullptr && is_connected_ && !is_draining_);
    if (server_ != nullptr) server_->SetReady(is_connected_);
  }

  metrics::Metrics& metrics_;
  base::Mutex mutex_;
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_connected_ ABSL_GUARDED_BY(mutex_) = false;
  rpc::Server* server_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace skiplane::app
