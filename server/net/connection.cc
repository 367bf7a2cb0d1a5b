#include "server/net/connection.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skiplane::net {

ino_t SocketNumber(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

// Numbers are not used again while a socket lives: what is this socket after the question was this
// socket before it.
std::optional<Connection::Bytes> Connection::BytesSoFar() const {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (SocketNumber(fd) != socket) return std::nullopt;
  return Bytes{static_cast<int64_t>(info.tcpi_bytes_received),
               static_cast<int64_t>(info.tcpi_bytes_acked)};
}

std::optional<int64_t> Connection::BytesUnread() const {
  int bytes = 0;
  if (ioctl(fd, FIONREAD, &bytes) != 0) return std::nullopt;
  if (SocketNumber(fd) != socket) return std::nullopt;
  return bytes;
}

std::optional<SocketAddress> Connection::Peer() const {
  SocketAddress peer = SocketAddress::PeerOf(fd);
  if (SocketNumber(fd) != socket) return std::nullopt;
  return peer;
}

// The duplicate cannot become another socket in between.
bool Connection::Abort() const {
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return false;
  const bool is_it = SocketNumber(own) == socket;
  if (is_it) {
    sockaddr nobody{};
    nobody.sa_family = AF_UNSPEC;
    connect(own, &nobody, sizeof(nobody));
  }
  close(own);
  return is_it;
}

}  // namespace skiplane::net
