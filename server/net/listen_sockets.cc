#include "server/net/listen_sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/status_macros.h"
#include "server/net/socket_address.h"

namespace skiplane::net {
namespace {

constexpr int kBacklog = 4096;             // the kernel cuts it to net.core.somaxconn
constexpr int kUserTimeoutMs = 20 * 1000;  // data that is not acknowledged, as gRPC sets it

bool IsKnown(const std::vector<SocketAddress>& known, const SocketAddress& address) {
  return std::ranges::any_of(known, [&](const SocketAddress& other) {
    return other == address || (other.IsAny() && address.IsAny());
  });
}

std::vector<SocketAddress> AddressesOf(const addrinfo* found) {
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const SocketAddress address(one->ai_addr, one->ai_addrlen);
    if (!IsKnown(addresses, address)) addresses.push_back(address);
  }
  return addresses;
}

void Set(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof(value));
}

// The descriptor, or minus the error. Accepted sockets inherit the options.
int Bound(const SocketAddress& address) {
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  Set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
  if (address.family() == AF_INET6) {
    Set(fd, IPPROTO_IPV6, IPV6_V6ONLY, address.IsAny() ? 0 : 1);
  }
  if (bind(fd, address.get(), address.length()) == 0) return fd;
  const int error = errno;
  close(fd);
  return -error;
}

int BoundToAny(const SocketAddress& address) {
  const int both = Bound(SocketAddress::Any(AF_INET6, address.port()));
  return both == -EAFNOSUPPORT || both == -EADDRNOTAVAIL ? Bound(address) : both;
}

absl::Status CannotListen(absl::string_view address, absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat("cannot listen on ", address, ": ", why));
}

}  // namespace

absl::StatusOr<ListenSockets> ListenSockets::Bind(const std::string& text) {
  const size_t colon = text.rfind(':');
  int port = -1;  // the look-up takes 99999 for 34463
  if (!absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return CannotListen(text, "its port is not a number from 0 to 65535");
  }
  absl::string_view host = absl::string_view(text).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(std::string(host).c_str(), text.c_str() + colon + 1, &hints, &found);
  if (error != 0) {
    return CannotListen(text, gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  return BindTo(found, text);
}

absl::StatusOr<ListenSockets> ListenSockets::BindTo(const addrinfo* found,
                                                    const std::string& text) {
  ListenSockets sockets;
  sockets.address_ = text;
  int missing = 0;
  for (SocketAddress& address : AddressesOf(found)) {
    if (!sockets.fds_.empty()) address.set_port(sockets.port_);
    const int fd = address.IsAny() ? BoundToAny(address) : Bound(address);
    if (fd >= 0) {
      sockets.fds_.push_back(fd);
      sockets.port_ = SocketAddress::OwnOf(fd).port();
    } else if (fd == -EADDRNOTAVAIL || fd == -EAFNOSUPPORT) {
      missing = -fd;
    } else {
      return CannotListen(text, std::strerror(-fd));
    }
  }
  if (sockets.fds_.empty()) {
    return CannotListen(text, std::strerror(missing));
  }
  return sockets;
}

absl::Status ListenSockets::Listen() {
  for (const int fd : fds_) {
    if (listen(fd, kBacklog) != 0) return CannotListen(address_, std::strerror(errno));
  }
  return absl::OkStatus();
}

absl::StatusOr<ListenSockets> ListenSockets::Open(const std::string& text) {
  ASSIGN_OR_RETURN(ListenSockets sockets, Bind(text));
  RETURN_IF_ERROR(sockets.Listen());
  return sockets;
}

void ListenSockets::Close() {
  for (const int fd : fds_) close(fd);
  fds_.clear();
}

}  // namespace skiplane::net
