#include "server/net/open_connections.h"

#include <sys/stat.h>

namespace skiplane::net {
namespace {

constexpr int kPauseFactor = 20;

// 0 if it is no open socket.
ino_t SocketNumber(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

}  // namespace

void OpenConnections::Add(int fd) { sockets_[fd] = SocketNumber(fd); }

bool OpenConnections::HasRoom() {
  if (count() < max_) return true;
  if (std::chrono::steady_clock::now() < removal_allowed_) return false;
  RemoveClosed();
  return count() < max_;
}

void OpenConnections::RemoveClosed() {
  const auto begin = std::chrono::steady_clock::now();
  absl::erase_if(sockets_, [](const auto& entry) {
    const ino_t number = SocketNumber(entry.first);
    return number == 0 || number != entry.second;
  });
  const auto end = std::chrono::steady_clock::now();
  removal_allowed_ = end + kPauseFactor * (end - begin);
}

}  // namespace skiplane::net
