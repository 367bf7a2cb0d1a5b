// Which of the connections that were accepted are still open, in all and of each party: see
// SocketAddress::Party().
//
// gRPC owns their descriptors and closes them without a callback. Each is remembered with the
// number of its socket (its inode) and compared later: if the descriptor is closed, or is another
// socket by now, the connection has ended. Nothing but fstat() is done with a descriptor that may
// be another's; connection.h does more, in the same way. Thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "server/base/mutex.h"
#include "server/base/part.h"
#include "server/net/connection.h"

namespace skiplane::net {

struct ConnectionLimits {
  int64_t connections;
  int address_share = 100;  // percent of them, for one party; rounded up

  int64_t OfParty() const { return base::PartOf(connections, address_share); }
};

class OpenConnections {
 public:
  enum class Room { kFree, kPartyIsFull, kFull };

  explicit OpenConnections(ConnectionLimits limits) : limits_(limits) {}

  void Add(int fd, const std::string& party);

  // Whether there is room for one more of `party`. Looks for closed ones if there seems to be none,
  // unless it has just done so: looking takes a twentieth of the time at most.
  Room RoomFor(const std::string& party);

  // Forgets those that are closed.
  void RemoveClosed();

  std::vector<Connection> List() const;

  int64_t count() const;
  int64_t max() const { return limits_.connections; }
  int64_t max_of_party() const { return limits_.OfParty(); }

 private:
  using Parties = absl::node_hash_map<std::string, int64_t>;
  struct Socket {
    ino_t number = 0;
    Parties::value_type* party = nullptr;
  };

  Room RoomNow(const std::string& party) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave(const Socket& socket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveClosedLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ConnectionLimits limits_;
  mutable base::Mutex mutex_;
  absl::flat_hash_map<int, Socket> sockets_ ABSL_GUARDED_BY(mutex_);  // by descriptor
  Parties of_party_ ABSL_GUARDED_BY(mutex_);                          // how many sockets
  std::chrono::steady_clock::time_point removal_allowed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::net
