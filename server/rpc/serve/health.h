// grpc.health.v1: readiness apart from liveness.
//
// The services "" and each full service name report readiness: whether calls should be sent here.
// The service "liveness" is SERVING as long as the process answers on new connections, so that a
// slow database never gets a healthy process killed. Thread-safe.
#pragma once

#include <grpcpp/health_check_service_interface.h>

#include <vector>

#include "server/base/mutex.h"

namespace skiplane::rpc {

class Health {
 public:
  // Not ready at first. The services, one for each server, must outlive this.
  explicit Health(std::vector<grpc::HealthCheckServiceInterface*> services);

  // Ignored once Retire() was called.
  void SetReady(bool ready);

  void SetAlive(bool alive);

  // Not ready for good.
  void Retire();

 private:
  void Publish(bool ready) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  base::Mutex mutex_;
  bool retired_ ABSL_GUARDED_BY(mutex_) = false;
  const std::vector<grpc::HealthCheckServiceInterface*> services_;
};

}  // namespace skiplane::rpc
