// Ends a connection from any thread: who waits for the server fails at once. For a server that is
// there but does not answer (frozen, or behind a proxy that lost it): neither libpq nor the kernel
// notices that.
//
// It has a duplicate of the socket, so that it can outlive the connection: libpq closes its own as
// soon as it sees a loss, and the number may then be another's. Thread-safe.
#pragma once

namespace skiplane::pg {

class Breaker {
 public:
  explicit Breaker(int socket);
  ~Breaker();
  Breaker(const Breaker&) = delete;
  Breaker& operator=(const Breaker&) = delete;

  void Break() const;

 private:
  const int socket_;
};

}  // namespace skiplane::pg
