#include "server/net/open_connections.h"

namespace skiplane::net {
namespace {

constexpr int kPauseFactor = 20;

}  // namespace

void OpenConnections::Add(int fd, const std::string& party) {
  base::MutexLock lock(mutex_);
  Socket& socket = sockets_[fd];
  if (socket.party != nullptr) Leave(socket);
  socket = {SocketNumber(fd), &*of_party_.try_emplace(party, 0).first};
  ++socket.party->second;
}

void OpenConnections::Leave(const Socket& socket) {
  if (--socket.party->second == 0) of_party_.erase(std::string(socket.party->first));
}

OpenConnections::Room OpenConnections::RoomNow(const std::string& party) const {
  if (static_cast<int64_t>(sockets_.size()) >= max()) return Room::kFull;
  const auto found = of_party_.find(party);
  const bool is_full = found != of_party_.end() && found->second >= max_of_party();
  return is_full ? Room::kPartyIsFull : Room::kFree;
}

OpenConnections::Room OpenConnections::RoomFor(const std::string& party) {
  base::MutexLock lock(mutex_);
  const Room room = RoomNow(party);
  if (room == Room::kFree || std::chrono::steady_clock::now() < removal_allowed_) return room;
  RemoveClosedLocked();
  return RoomNow(party);
}

void OpenConnections::RemoveClosed() {
  base::MutexLock lock(mutex_);
  RemoveClosedLocked();
}

void OpenConnections::RemoveClosedLocked() {
  const auto begin = std::chrono::steady_clock::now();
  absl::erase_if(sockets_, [this](const auto& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const ino_t number = SocketNumber(entry.first);
    const bool is_open = number != 0 && number == entry.second.number;
    if (!is_open) Leave(entry.second);
    return !is_open;
  });
  const auto end = std::chrono::steady_clock::now();
  removal_allowed_ = end + kPauseFactor * (end - begin);
}

std::vector<Connection> OpenConnections::List() const {
  base::MutexLock lock(mutex_);
  std::vector<Connection> all;
  all.reserve(sockets_.size());
  for (const auto& [fd, socket] : sockets_) all.push_back({fd, socket.number});
  return all;
}

int64_t OpenConnections::count() const {
  base::MutexLock lock(mutex_);
  return static_cast<int64_t>(sockets_.size());
}

}  // namespace skiplane::net
