// A TCP socket of a test, and what its peer does. Every wait has a generous bound.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace skiplane::net {

class Socket {
 public:
  // One that listens on a free port of the loopback, and never accepts.
  static Socket Listening() {
    Socket socket;
    const sockaddr_in address = Loopback(0);
    bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    listen(socket.fd(), 100);
    return socket;
  }

  static Socket ConnectedTo(int port) {
    Socket socket;
    socket.ConnectTo(port);
    return socket;
  }

  Socket() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval generous = {60, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &generous, sizeof(generous));
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Socket() { Close(); }

  void ConnectTo(int port) {
    const sockaddr_in address = Loopback(port);
    connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }

  int fd() const { return fd_; }

  int port() const {
    sockaddr_in address{};
    socklen_t length = sizeof(address);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
    return ntohs(address.sin_port);
  }

  // Whether the peer closes, or resets, the connection before it sends anything.
  bool IsTurnedAway() const {
    char byte = 0;
    const ssize_t got = recv(fd_, &byte, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

  // Whether the peer sends something.
  bool IsAnswered() const {
    char byte = 0;
    return recv(fd_, &byte, 1, MSG_PEEK) == 1;
  }

  // False if the peer takes no more.
  bool Send(absl::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // What comes until `end` has come, or the peer ends the connection.
  std::string ReadUntil(absl::string_view end) const {
    std::string text;
    char byte = 0;
    while (!absl::EndsWith(text, end) && recv(fd_, &byte, 1, 0) == 1) text.push_back(byte);
    return text;
  }

  std::string ReadToEnd() const {
    std::string text;
    std::string part(1 << 16, '\0');
    for (;;) {
      const ssize_t got = recv(fd_, part.data(), part.size(), 0);
      if (got <= 0) return text;
      text.append(part, 0, static_cast<size_t>(got));
    }
  }

  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  static sockaddr_in Loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  int fd_;
};

}  // namespace skiplane::net
