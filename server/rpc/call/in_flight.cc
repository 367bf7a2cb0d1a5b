#include "server/rpc/call/in_flight.h"

namespace skiplane::rpc {

bool InFlight::Begin() {
  base::MutexLock lock(mutex_);
  if (!is_closed_) ++calls_;
  return !is_closed_;
}

bool InFlight::Hold(int64_t bytes, bool may_use_reserve) {
  const int64_t calls_max = limits_.calls + (may_use_reserve ? limits_.reserved_calls : 0);
  const int64_t bytes_max = limits_.bytes + (may_use_reserve ? limits_.reserved_bytes : 0);
  base::MutexLock lock(mutex_);
  if (calls_ > calls_max || bytes_ + bytes > bytes_max) return false;
  bytes_ += bytes;
  return true;
}

InFlight::Parking InFlight::Park(const std::string& connection, WaitFor what) {
  const bool awaits = what == WaitFor::kEndOfTask;
  base::MutexLock lock(mutex_);
  if (parked_ >= limits_.parked) return Parking::kBrokerIsFull;
  if (awaits && awaiting_ >= PlacesOf(what)) return Parking::kAwaitsAreFull;
  int64_t& of_connection = parked_by_connection_[connection];
  if (of_connection >= limits_.parked_per_connection) return Parking::kConnectionIsFull;
  ++of_connection;
  ++parked_;
  if (awaits) ++awaiting_;
  --calls_;
  return Parking::kGranted;
}

void InFlight::Unpark(const std::string& connection, WaitFor what) {
  base::MutexLock lock(mutex_);
  const auto found = parked_by_connection_.find(connection);
  if (--found->second == 0) parked_by_connection_.erase(found);
  --parked_;
  if (what == WaitFor::kEndOfTask) --awaiting_;
  ++calls_;
}

void InFlight::Add(int64_t bytes) {
  base::MutexLock lock(mutex_);
  bytes_ += bytes;
}

void InFlight::End(int64_t held) {
  base::MutexLock lock(mutex_);
  bytes_ -= held;
  if (--calls_ + parked_ == 0) none_.NotifyAll();
}

void InFlight::Close() {
  base::MutexLock lock(mutex_);
  is_closed_ = true;
}

bool InFlight::WaitForNone(std::chrono::steady_clock::time_point deadline) {
  base::MutexLock lock(mutex_);
  while (calls_ + parked_ > 0) {
    if (!none_.WaitUntil(mutex_, deadline)) return calls_ + parked_ == 0;
  }
  return true;
}

}  // namespace skiplane::rpc
