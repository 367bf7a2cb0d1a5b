#include "server/app/http_front.h"

#include <string>
#include <utility>
#include <vector>

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

}  // namespace

HttpFront::HttpFront(const config::Config& config, Parts parts)
    : parts_(parts),
      gateway_(parts.server.InnerChannel(),
               {.services = {"skiplane.v1.BrokerService", "skiplane.v1.AdminService",
                             "grpc.health.v1.Health"},
                .site = SiteOf(config),
                .pages = {[readiness = &parts.readiness] { return readiness->IsReady(); },
                          [metrics = &parts.metrics](const http::Head& head) {
                            return http::Scrape(head, *metrics);
                          }},
                .admit = [server = &parts.server](const http::Head& head,
                                                  const http::Caller& caller) {
                  return server->Admit({caller.address, caller.name},
                                       {.authorization = head.Find(rpc::kAuthorization),
                                        .authorizations = head.Count(rpc::kAuthorization),
                                        .method = absl::StripPrefix(head.path, "/")});
                },
                .asking = {"skiplane.v1.BrokerService", "skiplane.v1.AdminService"},
                .refused = [metrics = &parts.metrics](absl::string_view reason) {
                  metrics->HttpRefused(reason);
                }}) {}

absl::StatusOr<std::unique_ptr<HttpFront>> HttpFront::Start(net::ListenSockets sockets,
                                                            const config::Config& config,
                                                            int connections_max, Parts parts) {
  std::unique_ptr<HttpFront> front(new HttpFront(config, parts));
  http::Limits limits;
  limits.connections = connections_max;
  limits.address_share = config.address_share;
  ASSIGN_OR_RETURN(front->server_,
                   http::Server::Start(std::move(sockets), parts.server.identity(), limits,
                                       front->gateway_, parts.metrics));
  return front;
}

}  // namespace skiplane::app
