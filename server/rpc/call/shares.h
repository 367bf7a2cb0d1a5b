// What each party has under way in a server: a principal or, where nobody proves who it is, a
// connection. Those that have nothing stay known for a while, because most call again; so there are
// as many as have calls, and some. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"

namespace skiplane::rpc {

struct Party {
  absl::string_view name;  // the principal's; of a connection: the caller's address and port
  bool is_principal = false;
};

struct Share {
  int64_t calls = 0;  // but those that are parked
  int64_t parked = 0;
  int64_t awaiting = 0;  // of those that are parked: for the ends of tasks
  int64_t bytes = 0;

  bool is_idle() const { return calls + parked == 0; }
};

class Shares {
 public:
  // So many that have no call are remembered, and half as many as there are.
  static constexpr size_t kIdleMax = 1024;

  // Stays where it is from BeginCall() to the EndCall() of its last call.
  Share& Of(const Party& party);
  void BeginCall(Share& share);
  void EndCall(Share& share);

  size_t size() const { return shares_.size(); }

 private:
  absl::node_hash_map<std::string, Share> shares_;
  size_t idle_ = 0;
};

}  // namespace skiplane::rpc
