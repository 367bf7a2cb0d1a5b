// Serves HTTP/1.1 on one port: accepts connections up to a limit, reads requests, and writes what a
// handler answers. A fixed number of threads, however many requests wait. Thread-safe.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/http/handler.h"
#include "server/http/limits.h"
#include "server/metrics/metrics.h"
#include "server/net/listen_sockets.h"
#include "server/net/tls_files.h"

namespace skiplane::http {

class Server {
 public:
  // From now on `sockets` are listened on; with TLS only if there is an identity. `handler` and
  // `metrics` outlive the server.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      net::ListenSockets sockets, const std::optional<net::TlsIdentity>& identity,
      const Limits& limits, Handler& handler, metrics::Metrics& metrics);
  // Stops without patience if nobody did.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;

  // What new connections are shown.
  absl::Status ReplaceTls(const net::TlsIdentity& identity);

  // From now on a connection ends with the answer to its request, and one that waits for a further
  // request at once. The first request of a connection is still answered.
  void BeginDrain();

  // No connection is accepted any more. Those that are open may end within `patience`, and are then
  // cut off. Idempotent: a later caller waits for the first. Not from the server's own threads.
  void Stop(absl::Duration patience);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace skiplane::http
