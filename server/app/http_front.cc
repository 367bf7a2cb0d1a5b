#include "server/app/http_front.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/status_macros.h"
#include "server/config/address.h"
#include "server/http/metrics_page.h"

namespace skiplane::app {
namespace {

http::Site SiteOf(const config::Config& config) {
  std::vector<std::string> hosts = config.http_hosts;
  if (std::string own = config::HostNameOf(config.http_listen); !own.empty()) {
    hosts.push_back(std::move(own));
  }
  return {std::move(hosts), config.http_origins};
}

// As a browser of this machine finds it, at an address that stands for all of its own.
std::string DashboardUrl(const config::Config& config, int port) {
  std::string host = config.http_listen.substr(0, config.http_listen.rfind(':'));
  if (host == "0.0.0.0" || host == "[::]") host = "localhost";
  return absl::StrCat(config.tls.enabled() ? "https://" : "http://", host, ":", port,
                      http::dashboard::kRoot);
}

auto AdmitBy(const rpc::Server& server) {
  return [&server](const http::Head& head, const http::Caller& caller) {
    return server.Admit({caller.address, caller.name},
                        {.authorization = head.Find(rpc::kAuthorization),
                         .authorizations = head.Count(rpc::kAuthorization),
                         .method = absl::StripPrefix(head.path, "/")});
  };
}

auto CountIn(metrics::Metrics& metrics) {
  return [&metrics](absl::string_view reason) { metrics.HttpRefused(reason); };
}

}  // namespace

HttpFront::HttpFront(const config::Config& config, Parts parts)
    : parts_(parts),
      gateway_(parts.server.inner_channel(),
               {.services = {"skiplane.v1.BrokerService", "skiplane.v1.AdminService",
                             "grpc.health.v1.Health"},
                .site = SiteOf(config),
                .pages = {[readiness = &parts.readiness] { return readiness->IsReady(); },
                          [metrics = &parts.metrics](const http::Head& head) {
                            return http::Scrape(head, *metrics);
                          }},
                .admit = AdmitBy(parts.server),
                .asking = {"skiplane.v1.BrokerService", "skiplane.v1.AdminService"},
                .refused = CountIn(parts.metrics)}) {
  if (!config.dashboard) return;
  dashboard_ = std::make_unique<http::dashboard::Dashboard>(
      gateway_, http::dashboard::Dashboard::Options{.site = SiteOf(config),
                                                    .has_tls = config.tls.enabled(),
                                                    .admit = AdmitBy(parts.server),
                                                    .refused = CountIn(parts.metrics)});
}

absl::StatusOr<std::unique_ptr<HttpFront>> HttpFront::Start(net::ListenSockets sockets,
                                                            const config::Config& config,
                                                            int connections_max, Parts parts) {
  std::unique_ptr<HttpFront> front(new HttpFront(config, parts));
  http::Limits limits;
  limits.connections = connections_max;
  limits.address_share = config.address_share;
  http::Handler* handler = &front->gateway_;
  if (front->dashboard_ != nullptr) handler = front->dashboard_.get();
  ASSIGN_OR_RETURN(front->server_, http::Server::Start(std::move(sockets), parts.server.identity(),
                                                       limits, *handler, parts.metrics));
  if (config.dashboard) front->dashboard_url_ = DashboardUrl(config, front->port());
  return front;
}

}  // namespace skiplane::app
