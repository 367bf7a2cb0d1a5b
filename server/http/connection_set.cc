#include "server/http/connection_set.h"

namespace skiplane::http {

void ConnectionSet::Add(const std::shared_ptr<Connection>& connection) {
  base::MutexLock lock(mutex_);
  all_.emplace(connection.get(), connection);
}

void ConnectionSet::Remove(const Connection* connection) {
  base::MutexLock lock(mutex_);
  all_.erase(connection);
  if (all_.empty()) none_.NotifyAll();
}

std::vector<std::shared_ptr<Connection>> ConnectionSet::All() {
  std::vector<std::shared_ptr<Connection>> all;
  base::MutexLock lock(mutex_);
  for (const auto& [connection, reference] : all_) {
    if (std::shared_ptr<Connection> found = reference.lock()) all.push_back(std::move(found));
  }
  return all;
}

bool ConnectionSet::WaitForNone(std::chrono::steady_clock::time_point deadline) {
  base::MutexLock lock(mutex_);
  while (!all_.empty()) {
    if (!none_.WaitUntil(mutex_, deadline)) return all_.empty();
  }
  return true;
}

}  // namespace skiplane::http
