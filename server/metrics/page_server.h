// Serves what the collectables say under /metrics, over HTTP on one address, with its own threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "prometheus/collectable.h"
#include "prometheus/exposer.h"

namespace skiplane::metrics {

class PageServer {
 public:
  // UNAVAILABLE if `address` (host:port, numeric; port 0 takes a free one) cannot be listened on.
  // The collectables must live as long as the server.
  static absl::StatusOr<std::unique_ptr<PageServer>> Start(
      absl::string_view address,
      const std::vector<std::shared_ptr<prometheus::Collectable>>& collectables);
  // The port is free when this returns.
  ~PageServer();

  int port() const { return port_; }

 private:
  PageServer(std::string host, std::unique_ptr<prometheus::Exposer> exposer);
  // True if a connection was made.
  bool Touch() const;

  const std::string host_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  const int port_;
};

}  // namespace skiplane::metrics
