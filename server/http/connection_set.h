// Which connections of one server there are, and whether they are to end. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/base/mutex.h"

namespace skiplane::http {

class Connection;

class ConnectionSet {
 public:
  void Add(const std::shared_ptr<Connection>& connection);
  void Remove(const Connection* connection);
  std::vector<std::shared_ptr<Connection>> All();
  // False if some were left at `deadline`.
  bool WaitForNone(std::chrono::steady_clock::time_point deadline);

  // From now on each connection ends with the answer to its request.
  void BeginDrain() { is_draining_ = true; }
  bool is_draining() const { return is_draining_; }

 private:
  std::atomic<bool> is_draining_ = false;
  base::Mutex mutex_;
  base::CondVar none_;
  absl::flat_hash_map<const Connection*, std::weak_ptr<Connection>> all_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::http
