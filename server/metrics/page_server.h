// Serves a page under /metrics, over HTTP on one address, with its own threads.
#pragma once

#include <CivetServer.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/metrics/families.h"
#include "server/metrics/page_handler.h"

namespace skiplane::metrics {

class PageServer {
 public:
  // UNAVAILABLE if `address` (host:port, numeric; port 0 takes a free one) cannot be listened on.
  // `page` makes the page, at each call, on several threads at once. What the server tells of
  // itself goes to `registry`. Both outlive the object.
  static absl::StatusOr<std::unique_ptr<PageServer>> Start(absl::string_view address,
                                                           std::function<std::string()> page,
                                                           Registry& registry);
  // The port is free when this returns.
  ~PageServer();

  int port() const { return port_; }

 private:
  PageServer(std::string host, std::unique_ptr<PageHandler> handler,
             std::unique_ptr<CivetServer> server);
  // True if a connection was made.
  bool Touch() const;

  const std::string host_;
  const std::unique_ptr<PageHandler> handler_;
  std::unique_ptr<CivetServer> server_;
  const int port_;
};

}  // namespace skiplane::metrics
