#include "server/pg/breaker.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace skiplane::pg {

Breaker::Breaker(int socket) : socket_(fcntl(socket, F_DUPFD_CLOEXEC, 0)) {}

Breaker::~Breaker() { close(socket_); }

void Breaker::Break() const { shutdown(socket_, SHUT_RDWR); }

}  // namespace skiplane::pg
