// A connection whose descriptor belongs to somebody else, who may close it at any moment: the
// descriptor, and the number of its socket (its inode), by which one tells whether the descriptor
// still is that socket. A value; its methods may be called from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "server/net/socket_address.h"

namespace skiplane::net {

// 0 if it is no open socket.
ino_t SocketNumber(int fd);

struct Connection {
  int fd = -1;
  ino_t socket = 0;

  // Since the connection was made: of its peer; to its peer, which has received them.
  struct Bytes {
    int64_t received;
    int64_t acknowledged;
  };
  // Nothing if it has ended.
  std::optional<Bytes> BytesSoFar() const;

  // Of what was received, what its owner has not read yet; nothing if it has ended.
  std::optional<int64_t> BytesUnread() const;

  // Nothing if it has ended.
  std::optional<SocketAddress> Peer() const;

  // Ends it at once: both sides see a reset, and what has come and was not read is thrown away,
  // which shutdown() would leave to be read. The descriptor stays its owner's. False if the
  // connection has ended already.
  bool Abort() const;
};

}  // namespace skiplane::net
