// Joins two facts that come at different times and on different threads: the gRPC front stands, and
// the database can be reached. Both together are "ready". Thread-safe.
#pragma once

#include "server/base/mutex.h"
#include "server/rpc/server.h"

namespace skiplane::app {

class Readiness {
 public:
  void SetConnected(bool connected) {
    base::MutexLock lock(mutex_);
    is_connected_ = connected;
    if (server_ != nullptr) server_->SetReady(is_connected_);
  }

  // `server` outlives this object, or is taken away by SetServer(nullptr).
  void SetServer(rpc::Server* server) {
    base::MutexLock lock(mutex_);
    server_ = server;
    if (server_ != nullptr) server_->SetReady(is_connected_);
  }

 private:
  base::Mutex mutex_;
  bool is_connected_ ABSL_GUARDED_BY(mutex_) = false;
  rpc::Server* server_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace skiplane::app
