#include "server/rpc/in_flight.h"

namespace skiplane::rpc {

bool InFlight::Begin() {
  base::MutexLock lock(mutex_);
  if (!is_closed_) ++calls_;
  return !is_closed_;
}

void InFlight::End() {
  base::MutexLock lock(mutex_);
  if (--calls_ == 0) none_.NotifyAll();
}

void InFlight::Close() {
  base::MutexLock lock(mutex_);
  is_closed_ = true;
}

bool InFlight::WaitForNone(std::chrono::steady_clock::time_point deadline) {
  base::MutexLock lock(mutex_);
  while (calls_ > 0) {
    if (!none_.WaitUntil(mutex_, deadline)) return calls_ == 0;
  }
  return true;
}

}  // namespace skiplane::rpc
