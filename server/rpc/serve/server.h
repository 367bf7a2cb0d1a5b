// The gRPC front of the broker: listens, answers, reports its health and drains.
//
// Start() returns a server that answers but is not ready until SetReady(true). The broker and the
// metrics must outlive it, and the broker must answer every call, or a drain never ends.
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/broker/api/broker.h"
#include "server/metrics/metrics.h"
#include "server/rpc/call/caller.h"
#include "server/rpc/call/inner_channel.h"
#include "server/rpc/serve/binding.h"
#include "server/rpc/serve/server_options.h"
#include "server/net/tls_files.h"

namespace skiplane::rpc {

class Server {
 public:
  // From now on the port is listened on.
  static absl::StatusOr<std::unique_ptr<Server>> Start(Binding binding, broker::Broker& broker,
                                                       metrics::Metrics& metrics);
  // With a binding of its own.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       broker::Broker& broker,
                                                       metrics::Metrics& metrics);
  // Drains without patience if nobody did.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;

  // Leads to the same services; for the HTTP port only, see call/caller.h.
  std::shared_ptr<InnerChannel> inner_channel() const;
  // Whether a caller of another port may call at all, before its request is read. See Admit(). That
  // port has TLS if this one has it.
  absl::Status Admit(const Caller& caller, ShownCredentials shown) const;
  // What new connections are shown.
  std::optional<net::TlsIdentity> identity() const;

  // What health checks tell. Ignored once a drain has begun.
  void SetReady(bool ready);

  // New connections are shown what these files hold now; those that stand live on. If a file is not
  // right, or TLS or the wish for clients' certificates would be switched on or off by it, nothing
  // changes: FAILED_PRECONDITION. Nor does anything if `others_take` refuses what they hold, who is
  // asked last. Logs what was loaded.
  using OthersTake = std::function<absl::Status(const net::TlsIdentity&)>;
  absl::Status ReloadTls(const std::optional<net::TlsFiles>& files,
                         const OthersTake& others_take = nullptr);

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
