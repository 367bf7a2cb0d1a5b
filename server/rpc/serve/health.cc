#include "server/rpc/serve/health.h"

#include "skiplane/v1/admin.grpc.pb.h"
#include "skiplane/v1/broker.grpc.pb.h"

namespace skiplane::rpc {

Health::Health(grpc::HealthCheckServiceInterface& service) : service_(service) {
  SetAlive(true);
  SetReady(false);
}

void Health::SetReady(bool ready) {
  base::MutexLock lock(mutex_);
  if (!retired_) Publish(ready);
}

void Health::SetAlive(bool alive) { service_.SetServingStatus("liveness", alive); }

void Health::Retire() {
  base::MutexLock lock(mutex_);
  retired_ = true;
  Publish(false);
}

void Health::Publish(bool ready) {
  service_.SetServingStatus(v1::BrokerService::service_full_name(), ready);
  service_.SetServingStatus(v1::AdminService::service_full_name(), ready);
  // The whole comes last: who has seen it ready finds its parts ready, too.
  service_.SetServingStatus("", ready);
}

}  // namespace skiplane::rpc
