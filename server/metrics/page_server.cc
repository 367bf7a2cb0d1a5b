#include "server/metrics/page_server.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace skiplane::metrics {
namespace {

std::string HostOf(absl::string_view address) {
  absl::string_view host = address.substr(0, address.rfind(':'));
  absl::ConsumePrefix(&host, "[");
  absl::ConsumeSuffix(&host, "]");
  return std::string(host);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PageServer>> PageServer::Start(absl::string_view address,
                                                              std::function<std::string()> page,
                                                              Registry& registry) {
  // Few threads serve all scrapes: one that stands still must not hold its thread for long.
  const std::vector<std::string> options = {"listening_ports",    std::string(address),
                                            "num_threads",        "4",
                                            "request_timeout_ms", "10000"};
  try {
    auto server = std::make_unique<CivetServer>(options);
    auto handler = std::make_unique<PageHandler>(std::move(page), registry);
    server->addHandler("/metrics", *handler);
    return std::unique_ptr<PageServer>(
        new PageServer(HostOf(address), std::move(handler), std::move(server)));
  } catch (const CivetException&) {  // it knows no reason
    return absl::UnavailableError(
        absl::StrCat("cannot serve metrics on ", address,
                     ": the port is taken, or the address is none of this machine"));
  }
}

PageServer::PageServer(std::string host, std::unique_ptr<PageHandler> handler,
                       std::unique_ptr<CivetServer> server)
    : host_(std::move(host)),
      handler_(std::move(handler)),
      server_(std::move(server)),
      port_(server_->getListeningPorts().at(0)) {}

// civetweb notices that it is to stop when its accepting thread wakes: by itself every two seconds,
// which is a fifth of what a broker has for its whole shutdown. Connections wake it at once.
PageServer::~PageServer() {
  std::atomic<bool> stopped = false;
  std::thread stopper([&] {
    server_.reset();
    stopped = true;
  });
  while (!stopped && Touch()) {
  }
  stopper.join();
}

bool PageServer::Touch() const {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* target = nullptr;
  if (getaddrinfo(host_.c_str(), absl::StrCat(port_).c_str(), &hints, &target) != 0) return false;
  const int connection = socket(target->ai_family, target->ai_socktype | SOCK_CLOEXEC, 0);
  const bool connected = connect(connection, target->ai_addr, target->ai_addrlen) == 0;
  if (connection >= 0) close(connection);
  freeaddrinfo(target);
  return connected;
}

}  // namespace skiplane::metrics
