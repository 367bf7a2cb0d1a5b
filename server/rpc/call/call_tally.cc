#include "server/rpc/call/call_tally.h"

#include <utility>

namespace skiplane::rpc {

std::shared_ptr<CallTally::Connection> CallTally::Begin(absl::string_view address, int64_t bytes) {
  std::shared_ptr<Connection> connection;
  {
    base::MutexLock lock(mutex_);
    std::shared_ptr<Connection>& known = connections_[address].connection;
    if (known == nullptr) known = std::make_shared<Connection>();
    connection = known;
  }
  connection->calls.fetch_add(1, std::memory_order_relaxed);
  connection->begun.fetch_add(1, std::memory_order_relaxed);
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

void CallTally::GiveUp(Connection& connection) {
  connection.given_up.fetch_add(1, std::memory_order_relaxed);
  given_up_.fetch_add(1, std::memory_order_relaxed);
}

CallTally::Counts CallTally::Of(absl::string_view address) const {
  std::shared_ptr<const Connection> connection;
  {
    base::MutexLock lock(mutex_);
    const auto found = connections_.find(address);
    if (found == connections_.end()) return {};
    connection = found->second.connection;
  }
  return {connection->calls, connection->begun, connection->bytes, connection->answered,
          connection->given_up, connection->answer_bytes, connection->read};
}

void CallTally::Sweep(absl::FunctionRef<bool(absl::string_view address)> is_open) {
  base::MutexLock lock(mutex_);
  absl::erase_if(connections_, [&](auto& entry) {
    Known& known = entry.second;
    const bool was_open = std::exchange(known.was_open, is_open(entry.first));
    // Who has a call has a reference, and takes it under the mutex.
    return !was_open && !known.was_open && known.connection.use_count() == 1;
  });
}

size_t CallTally::size() const {
  base::MutexLock lock(mutex_);
  return connections_.size();
}

}  // namespace skiplane::rpc
