// Where one end of a TCP connection is: an IPv4 or IPv6 address and a port. A value.
#pragma once

#include <sys/socket.h>

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::net {

class SocketAddress {
 public:
  // Of no socket: family AF_UNSPEC, port 0.
  SocketAddress() = default;
  SocketAddress(const sockaddr* address, socklen_t length);

  // Of this end of a socket, and of the other end. Of no socket if the kernel does not know it.
  static SocketAddress OwnOf(int fd);
  static SocketAddress PeerOf(int fd);

  // All addresses of the machine; `family` is AF_INET or AF_INET6.
  static SocketAddress Any(sa_family_t family, int port);
  static SocketAddress LoopbackIpv4(int port);

  sa_family_t family() const { return storage_.ss_family; }
  int port() const;
  void set_port(int port);
  bool IsAny() const;
  bool HasHostOf(const SocketAddress& other) const { return Host() == other.Host(); }

  // Equal for the addresses that one party has: an IPv4 address, whichever kind of socket shows it,
  // or a network of IPv6 (/64), of which everybody has all addresses. No text.
  std::string Party() const;

  // "127.0.0.1:7070", "[::1]:7070"; empty of no socket.
  std::string Text() const;

  // For the kernel.
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return length_; }

  friend bool operator==(const SocketAddress& a, const SocketAddress& b);

 private:
  using Name = int (*)(int, sockaddr*, socklen_t*);
  static SocketAddress Of(int fd, Name name);

  // The bytes of the address without the port.
  absl::string_view Host() const;

  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

}  // namespace skiplane::net
