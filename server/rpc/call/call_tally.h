// What the calls of each connection are doing, for who looks for connections that flood. Beside it
// gRPC counts a connection's streams, and the kernel its bytes: what they have more than the calls
// here account for is what nobody will ever answer. Thread-safe; a call costs two short steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"

namespace skiplane::rpc {

class CallTally {
 public:
  struct Connection {
    std::atomic<int64_t> calls = 0;  // that will be answered, and taken by their caller
    std::atomic<int64_t> abandoned = 0;  // that the broker has still to answer, for nobody
    std::atomic<int64_t> answer_bytes = 0;  // of tasks and lists that its caller has still to read
    // So far:
    std::atomic<int64_t> begun = 0;
    std::atomic<int64_t> bytes = 0;  // that calls came with
    std::atomic<int64_t> answered = 0;
    std::atomic<int64_t> given_up = 0;  // by their caller; but those that waited for work
    std::atomic<int64_t> read = 0;      // answers with such bytes, by their caller
  };

  // Of one moment; zeros of a connection that has made no call.
  struct Counts {
    int64_t under_way = 0;  // Connection::calls
    int64_t begun = 0;
    int64_t bytes = 0;
    int64_t answered = 0;
    int64_t given_up = 0;
    int64_t answer_bytes = 0;
    int64_t read = 0;
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

  // A call of the connection was given up by its caller, and takes memory until it has ended.
  void GiveUp(Connection& connection);
  void EndGivenUp() { given_up_.fetch_sub(1, std::memory_order_relaxed); }
  // Of all connections, also those that have ended.
  int64_t given_up() const { return given_up_.load(std::memory_order_relaxed); }

  // An answer with tasks or lists is on its way; it has been read, or never will be.
  static void BeginAnswer(Connection& connection, int64_t bytes) {
    connection.answer_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
  static void EndAnswer(Connection& connection, int64_t bytes, bool is_read) {
    connection.answer_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    if (is_read) connection.read.fetch_add(1, std::memory_order_relaxed);
  }

  Counts Of(absl::string_view address) const;

  // Forgets connections that `is_open` did not know at the last call either, and whose calls have
  // ended: many come and go without ever being looked at.
  void Sweep(absl::FunctionRef<bool(absl::string_view address)> is_open);

  size_t size() const;

 private:
  struct Known {
    std::shared_ptr<Connection> connection;
    bool was_open = true;  // at the last sweep
  };

  std::atomic<int64_t> abandoned_ = 0;
  std::atomic<int64_t> given_up_ = 0;  // and not ended
  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, Known> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::rpc
