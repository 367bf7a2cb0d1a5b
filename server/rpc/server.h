// The gRPC front of the broker: listens, answers, tells its health and drains.
//
// Start() returns a server that answers but is not ready until SetReady(true). The broker and the
// metrics must outlive it, and the broker must answer every call, or a drain never ends.
// Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/broker/broker.h"
#include "server/metrics/metrics.h"
#include "server/model/limits.h"

namespace skiplane::rpc {

// Paths of PEM files.
struct TlsFiles {
  std::string certificate;  // with its chain
  std::string key;
  std::string client_ca;  // if not empty, clients must show a certificate that it signed
};

struct ServerLimits {
  int connections = model::kConnectionsMax;
  // Leases that wait, in all and on one connection. They are streams, and many workers behind one
  // proxy share a connection; it may have kStreamsBesideParked more for everything else.
  int parked_leases = model::kParkedLeasesMax;
  int parked_leases_per_connection = model::kParkedLeasesPerConnectionMax;
  absl::Duration handshake_timeout = absl::Seconds(5);
  // Makes clients spread again after brokers were added. The grace is longer than any Lease waits.
  absl::Duration connection_age = absl::Minutes(30);
  absl::Duration connection_age_grace = absl::Seconds(70);
  // What gRPC takes at most for calls and for messages that it is about to receive. Above what
  // 20,000 waiting leases (320 MB) and many large requests at once need.
  size_t memory_bytes = model::kTransportBytesMax;
};

struct ServerOptions {
  std::string listen;  // "127.0.0.1:7070"; port 0 takes a free one
  std::optional<TlsFiles> tls;
  bool reflection = false;
  ServerLimits limits;
};

class Server {
 public:
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       broker::Broker& broker,
                                                       metrics::Metrics& metrics);
  // Drains without patience if nobody did.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;

  // What health checks tell. Ignored once a drain has begun.
  void SetReady(bool ready);

  // Not ready from now on; parked leases are answered; no new calls; those that run are waited for,
  // at most `patience`, then cut off. Returns when the last call has ended. Idempotent: a second
  // caller waits for the first.
  void Drain(absl::Duration patience);

  // Returns when a drain has ended.
  void Wait();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace skiplane::rpc
