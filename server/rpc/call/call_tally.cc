#include "server/rpc/call/call_tally.h"

namespace skiplane::rpc {

std::shared_ptr<CallTally::Connection> CallTally::Begin(absl::string_view address, int64_t bytes) {
  std::shared_ptr<Connection> connection;
  {
    base::MutexLock lock(mutex_);
    std::shared_ptr<Connection>& known = connections_[address];
    if (known == nullptr) known = std::make_shared<Connection>();
    connection = known;
  }
  connection->calls.fetch_add(1, std::memory_order_relaxed);
  connection->bytes.fetch_add(bytes, std::memory_order_relaxed);
  return connection;
}

bool CallTally::IsFull(const Connection& connection) const {
  const int64_t abandoned = connection.abandoned.load(std::memory_order_relaxed);
  if (abandoned <= kAbandonedAlways) return false;
  return abandoned > kAbandonedMax ||
         abandoned_.load(std::memory_order_relaxed) > kAbandonedTogetherMax;
}

void CallTally::Abandon(Connection& connection) {
  connection.calls.fetch_sub(1, std::memory_order_relaxed);
  connection.abandoned.fetch_add(1, std::memory_order_relaxed);
  abandoned_.fetch_add(1, std::memory_order_relaxed);
}

void CallTally::EndAbandoned(Connection& connection) {
  connection.abandoned.fetch_sub(1, std::memory_order_relaxed);
  abandoned_.fetch_sub(1, std::memory_order_relaxed);
}

std::shared_ptr<const CallTally::Connection> CallTally::Find(absl::string_view address) const {
  base::MutexLock lock(mutex_);
  const auto found = connections_.find(address);
  return found == connections_.end() ? nullptr : found->second;
}

void CallTally::Forget(absl::string_view address) {
  base::MutexLock lock(mutex_);
  connections_.erase(address);
}

}  // namespace skiplane::rpc
