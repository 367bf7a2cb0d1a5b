// Ends a connection whose server accepts but does not answer (frozen, or behind a proxy that lost
// it): neither libpq nor the kernel notices that. Calls that wait for the server then fail.
//
// One thread, for all connections of the process, looks once a second. Arm() and Disarm() cost one
// atomic store. Not thread-safe, apart from that thread and EndWithin().
#pragma once

#include <atomic>
#include <chrono>

namespace skiplane::pg {

class Watchdog {
 public:
  // `socket` may be closed before the object ends: libpq does so as soon as it sees a loss.
  explicit Watchdog(int socket);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Breaks the connection after `patience`, unless Disarm() comes first.
  void Arm(std::chrono::nanoseconds patience);
  void Disarm();

  // Breaks the connection after `rest`, whatever is armed or not. Thread-safe.
  void EndWithin(std::chrono::nanoseconds rest);

  // Whether it has broken the connection: what the server was asked to do may go on there.
  bool has_bitten() const { return has_bitten_; }

 private:
  friend class Kennel;

  const int socket_;
  std::atomic<std::chrono::steady_clock::time_point> limit_;
  std::atomic<std::chrono::steady_clock::time_point> end_;  // of the connection
  std::atomic<bool> has_bitten_ = false;
};

}  // namespace skiplane::pg
