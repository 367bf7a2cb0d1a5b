// What the calls of each connection are doing, for who looks for connections that flood. Beside it
// gRPC counts a connection's streams, and the kernel its bytes: what they have more than the calls
// here account for is what nobody will ever answer. Thread-safe; a call costs two short steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"

namespace skiplane::rpc {

class CallTally {
 public:
  struct Connection {
    std::atomic<int64_t> calls = 0;  // that will be answered, and taken by their caller
    std::atomic<int64_t> bytes = 0;  // that calls came with so far
    std::atomic<int64_t> abandoned = 0;  // that the broker has still to answer, for nobody
  };

  // Of one connection, and of all, from where on those that abandoned some get no more.
  static constexpr int64_t kAbandonedMax = 1000;
  static constexpr int64_t kAbandonedTogetherMax = 5000;
  static constexpr int64_t kAbandonedAlways = 32;

  // A call of the connection has come, as `bytes`; its caller is at `address`, as gRPC spells it.
  // It counts as one of `calls` until somebody takes it off there.
  std::shared_ptr<Connection> Begin(absl::string_view address, int64_t bytes);

  // Whether the connection has so many abandoned calls that it may begin no more for now: they hold
  // the place and the work of others.
  bool IsFull(const Connection& connection) const;

  // The caller of one of `calls` left, and the broker has still to answer; it has answered.
  void Abandon(Connection& connection);
  void EndAbandoned(Connection& connection);

  // Null if no call came from there yet.
  std::shared_ptr<const Connection> Find(absl::string_view address) const;

  // The connection from there has ended.
  void Forget(absl::string_view address);

 private:
  std::atomic<int64_t> abandoned_ = 0;
  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<Connection>> connections_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::rpc
