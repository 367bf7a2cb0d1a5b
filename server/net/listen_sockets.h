// The sockets that a server listens on: one for each address that a name stands for.
//
// As gRPC has it: an address that means "any" (0.0.0.0 or ::) takes IPv4 and IPv6, and with port 0
// all sockets take the same free port. Not thread-safe.
#pragma once

#include <netdb.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace skiplane::net {

class ListenSockets {
 public:
  // `address`: "127.0.0.1:7070", "[::1]:0", "broker.internal:7070". The port is ours from now on,
  // and the kernel refuses callers until Listen(). FAILED_PRECONDITION, saying why, if somebody
  // listens there; an address that this machine does not have is left out if there is another.
  static absl::StatusOr<ListenSockets> Bind(const std::string& address);

  // The same with what `address` was found to stand for. What stands there twice, as a name of
  // /etc/hosts may, is listened on once.
  static absl::StatusOr<ListenSockets> BindTo(const addrinfo* found, const std::string& address);

  // From now on the kernel accepts connections and queues them. FAILED_PRECONDITION if another
  // process bound the port at the same time and was faster.
  absl::Status Listen();

  // Both in one.
  static absl::StatusOr<ListenSockets> Open(const std::string& address);

  ListenSockets(ListenSockets&& other) noexcept = default;
  ListenSockets& operator=(ListenSockets&&) = delete;
  ~ListenSockets() { Close(); }

  int port() const { return port_; }
  const std::vector<int>& fds() const { return fds_; }

  // Who waits to be accepted is turned away by the kernel. Idempotent.
  void Close();

 private:
  ListenSockets() = default;

  std::string address_;  // for messages
  std::vector<int> fds_;
  int port_ = 0;
};

}  // namespace skiplane::net
