#include "server/rpc/in_flight.h"

namespace skiplane::rpc {

bool InFlight::Begin() {
  base::MutexLock lock(mutex_);
  if (!is_closed_) ++calls_;
  return !is_closed_;
}

bool InFlight::Hold(int64_t bytes) {
  base::MutexLock lock(mutex_);
  if (calls_ > limits_.calls || bytes_ + bytes > limits_.bytes) return false;
  bytes_ += bytes;
  return true;
}

void InFlight::Add(int64_t bytes) {
  base::MutexLock lock(mutex_);
  bytes_ += bytes;
}

void InFlight::End(int64_t held) {
  base::MutexLock lock(mutex_);
  bytes_ -= held;
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
