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

void OpenConnections::Add(int fd, const std::string& party) {
  Socket& socket = sockets_[fd];
  if (socket.party != nullptr) Leave(socket);
  socket = {SocketNumber(fd), &*of_party_.try_emplace(party, 0).first};
  ++socket.party->second;
}

void OpenConnections::Leave(const Socket& socket) {
  if (--socket.party->second == 0) of_party_.erase(std::string(socket.party->first));
}

OpenConnections::Room OpenConnections::RoomNow(const std::string& party) const {
  if (count() >= max()) return Room::kFull;
  const auto found = of_party_.find(party);
  const bool is_full = found != of_party_.end() && found->second >= max_of_party();
  return is_full ? Room::kPartyIsFull : Room::kFree;
}

OpenConnections::Room OpenConnections::RoomFor(const std::string& party) {
  const Room room = RoomNow(party);
  if (room == Room::kFree || std::chrono::steady_clock::now() < removal_allowed_) return room;
  RemoveClosed();
  return RoomNow(party);
}

void OpenConnections::RemoveClosed() {
  const auto begin = std::chrono::steady_clock::now();
  absl::erase_if(sockets_, [this](const auto& entry) {
    const ino_t number = SocketNumber(entry.first);
    const bool is_open = number != 0 && number == entry.second.number;
    if (!is_open) Leave(entry.second);
    return !is_open;
  });
  const auto end = std::chrono::steady_clock::now();
  removal_allowed_ = end + kPauseFactor * (end - begin);
}

}  // namespace skiplane::net
