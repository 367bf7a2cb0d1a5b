// The whole broker in one object: database, broker, chores, metrics and the gRPC front, started
// in the order of their dependencies and ended in the reverse order.
//
// Start it from the main thread (see EmbeddedCluster). Not thread-safe but for ports.
#pragma once

#include <memory>
#include <string>
#include <vector>
#include <string>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace skiplane::app {

class App {
 public:
  // Returns when calls are answered; readiness follows when the database's connections stand.
  static absl::StatusOr<std::unique_ptr<App>> Start(const config::Config& config);
  // Drains without patience if nobody did.
  ~App();

  int port() const;
  int http_port() const;  // 0: there is none
  int metrics_port() const;
  std::string dashboard_url() const;  // empty: there is none
  // See Prepared::description.
  const std::string& database() const;
  // See EmbeddedUri; empty without --embedded.
  std::string embedded_uri() const;

  // Takes the files of TLS and of credentials as they are now, under these names. All of them, or
  // nothing changes. See rpc::Server for TLS.
  absl::Status ReloadFiles(const config::Config& config);
  // Answers leases that wait, so that their callers come again with the rights that they have now.
  void EndLeaseWaits();
  // For the metrics: how the last reload ended.
  void SetReloaded(bool succeeded);

  // Not ready, no new leases, open work finished within the configured time, all ended.
  void Drain();

 private:
  struct Parts;
  explicit App(std::unique_ptr<Parts> parts);
  void TellCertificate();

  std::unique_ptr<Parts> parts_;
};

// The migrations that are missing, as "15 error_trend"; what `skiplaned migrate --dry-run` tells.
absl::StatusOr<std::vector<std::string>> ListMigrations(const config::Config& config);

// Applies the migrations that are missing; what `skiplaned migrate` does. Returns how many ran.
absl::StatusOr<int> RunMigrations(const config::Config& config);

}  // namespace skiplane::app
