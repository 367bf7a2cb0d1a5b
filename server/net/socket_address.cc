#include "server/net/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace skiplane::net {
namespace {

const sockaddr_in& Ipv4(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in&>(storage);
}

const sockaddr_in6& Ipv6(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in6&>(storage);
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr* address, socklen_t length) : length_(length) {
  std::memcpy(&storage_, address, length);
}

SocketAddress SocketAddress::Of(int fd, Name name) {
  SocketAddress address;
  address.length_ = sizeof(address.storage_);
  if (name(fd, reinterpret_cast<sockaddr*>(&address.storage_), &address.length_) != 0) return {};
  return address;
}

SocketAddress SocketAddress::OwnOf(int fd) { return Of(fd, &getsockname); }
SocketAddress SocketAddress::PeerOf(int fd) { return Of(fd, &getpeername); }

SocketAddress SocketAddress::Any(sa_family_t family, int port) {
  SocketAddress any;  // both kinds of "any" are zeros
  any.storage_.ss_family = family;
  any.length_ = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  any.set_port(port);
  return any;
}

SocketAddress SocketAddress::LoopbackIpv4(int port) {
  SocketAddress loopback = Any(AF_INET, port);
  reinterpret_cast<sockaddr_in&>(loopback.storage_).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return loopback;
}

int SocketAddress::port() const {
  if (family() == AF_INET6) return ntohs(Ipv6(storage_).sin6_port);
  return family() == AF_INET ? ntohs(Ipv4(storage_).sin_port) : 0;
}

void SocketAddress::set_port(int port) {
  const in_port_t number = htons(static_cast<uint16_t>(port));
  if (family() == AF_INET6) reinterpret_cast<sockaddr_in6&>(storage_).sin6_port = number;
  if (family() == AF_INET) reinterpret_cast<sockaddr_in&>(storage_).sin_port = number;
}

bool SocketAddress::IsAny() const {
  if (family() == AF_INET6) return IN6_IS_ADDR_UNSPECIFIED(&Ipv6(storage_).sin6_addr);
  return family() == AF_INET && Ipv4(storage_).sin_addr.s_addr == INADDR_ANY;
}

absl::string_view SocketAddress::Host() const {
  if (family() == AF_INET6) {
    const in6_addr& host = Ipv6(storage_).sin6_addr;
    return {reinterpret_cast<const char*>(&host), sizeof(host)};
  }
  if (family() != AF_INET) return {};
  const in_addr& host = Ipv4(storage_).sin_addr;
  return {reinterpret_cast<const char*>(&host), sizeof(host)};
}

std::string SocketAddress::Party() const {
  constexpr size_t kNetworkBytes = 8;
  if (family() != AF_INET6) return std::string(Host());
  const bool is_ipv4 = IN6_IS_ADDR_V4MAPPED(&Ipv6(storage_).sin6_addr);
  return std::string(is_ipv4 ? Host().substr(Host().size() - sizeof(in_addr))
                             : Host().substr(0, kNetworkBytes));
}

std::string SocketAddress::Text() const {
  char host[INET6_ADDRSTRLEN] = "";
  if (Host().empty() || inet_ntop(family(), Host().data(), host, sizeof(host)) == nullptr) {
    return "";
  }
  return family() == AF_INET6 ? absl::StrCat("[", host, "]:", port())
                              : absl::StrCat(host, ":", port());
}

bool operator==(const SocketAddress& a, const SocketAddress& b) {
  return a.length_ == b.length_ && std::memcmp(&a.storage_, &b.storage_, a.length_) == 0;
}

}  // namespace skiplane::net
