// The page with metrics: for any server of HTTP, and a server of its own that has nothing else.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/http/message.h"
#include "server/http/server.h"
#include "server/metrics/metrics.h"

namespace skiplane::http {

// To GET: compressed for who takes that. Counted and measured. To HEAD no page is made, which
// takes long: RFC 9110 lets an answer leave out what only the page would tell.
Response Scrape(const Head& head, metrics::Metrics& metrics);

// So that slow readers leave some to others.
inline constexpr int kPageConnectionsMax = 256;

// Serves GET /metrics on one address, in the clear, for whatever Host; slow readers hold nobody up.
class MetricsPage {
 public:
  // UNAVAILABLE if `address` ("127.0.0.1:9464"; port 0 takes a free one) cannot be listened on.
  // `metrics` outlives the object.
  static absl::StatusOr<std::unique_ptr<MetricsPage>> Start(
      absl::string_view address, metrics::Metrics& metrics,
      int connections_max = kPageConnectionsMax);
  // The port is free when this returns.
  ~MetricsPage();

  int port() const { return server_->port(); }

 private:
  class Page;
  explicit MetricsPage(std::unique_ptr<Page> page);

  const std::unique_ptr<Page> page_;
  std::unique_ptr<Server> server_;
};

}  // namespace skiplane::http
