// Which of the connections that were accepted are still open.
//
// gRPC owns their descriptors and closes them without a callback. Each is remembered with the
// number of its socket (its inode) and compared later: if the descriptor is closed, or is another
// socket by now, the connection has ended. Nothing but fstat() is done with a descriptor that may
// be another's. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace skiplane::net {

class OpenConnections {
 public:
  explicit OpenConnections(int64_t max) : max_(max) {}

  void Add(int fd);

  // Whether there is room for one more. Looks for closed ones if there seems to be none, unless it
  // has just done so: looking takes a twentieth of the time at most.
  bool HasRoom();

  // Forgets those that are closed.
  void RemoveClosed();

  int64_t count() const { return static_cast<int64_t>(sockets_.size()); }
  int64_t max() const { return max_; }

 private:
  const int64_t max_;
  absl::flat_hash_map<int, ino_t> sockets_;  // by descriptor
  std::chrono::steady_clock::time_point removal_allowed_;
};

}  // namespace skiplane::net
