// The HTTP port of a broker, put together: what it answers, and to whom.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/app/readiness.h"
#include "server/config/config.h"
#include "server/http/connect/gateway.h"
#include "server/http/dashboard/dashboard.h"
#include "server/http/server.h"
#include "server/metrics/metrics.h"
#include "server/net/listen_sockets.h"
#include "server/rpc/serve/server.h"

namespace skiplane::app {

class HttpFront {
 public:
  struct Parts {
    rpc::Server& server;
    Readiness& readiness;
    metrics::Metrics& metrics;
  };

  // Calls go to the services of `parts.server`, and its TLS is used. `parts` outlive the object.
  static absl::StatusOr<std::unique_ptr<HttpFront>> Start(net::ListenSockets sockets,
                                                          const config::Config& config,
                                                          int connections_max, Parts parts);

  int port() const { return server_->port(); }

  // Where browsers find the dashboard; empty if it is not served.
  const std::string& dashboard_url() const { return dashboard_url_; }

  // What new connections are shown; nothing changes if this fails.
  absl::Status TakeTls(const net::TlsIdentity& identity) const {
    return server_->ReplaceTls(identity);
  }

  // See http::Server.
  void BeginDrain() { server_->BeginDrain(); }
  void Stop(absl::Duration patience) { server_->Stop(patience); }

 private:
  HttpFront(const config::Config& config, Parts parts);

  const Parts parts_;
  http::connect::Gateway gateway_;
  std::unique_ptr<http::dashboard::Dashboard> dashboard_;  // null: it is not served
  std::unique_ptr<http::Server> server_;
  std::string dashboard_url_;
};

}  // namespace skiplane::app
