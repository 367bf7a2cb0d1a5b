#include "server/rpc/serve/health.h"

#include <utility>

#include "skiplane/v1/admin.grpc.pb.h"
#include "skiplane/v1/broker.grpc.pb.h"

namespace skiplane::rpc {

Health::Health(std::vector<grpc::HealthCheckServiceInterface*> services)
    : services_(std::move(services)) {
  SetAlive(true);
  SetReady(false);
}

void Health::SetReady(bool ready) {
  base::MutexLock lock(mutex_);
  if (!retired_) Publish(ready);
}

void Health::SetAlive(bool alive) {
  for (auto* const service : services_) service->SetServingStatus("liveness", alive);
}

void Health::Retire() {
  base::MutexLock lock(mutex_);
  retired_ = true;
  Publish(false);
}

void Health::Publish(bool ready) {
  for (auto* const service : services_) {
    service->SetServingStatus(v1::BrokerService::service_full_name(), ready);
    service->SetServingStatus(v1::AdminService::service_full_name(), ready);
    // The whole comes last: who has seen it ready finds its parts ready, too.
    service->SetServingStatus("", ready);
  }
}

}  // namespace skiplane::rpc
