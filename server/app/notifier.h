// Tells systemd what the broker does, if that started it with Type=notify: that it serves, reads
// its settings again, drains; and, with WatchdogSec, that it is not frozen. Without systemd nothing
// happens.
//
// A message that cannot be sent is logged. Thread-safe.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "server/base/timer.h"

namespace skiplane::app {

class Notifier {
 public:
  // Begins to tell that it is not frozen, until the destructor: systemd listens from Ready() on.
  Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // `status` is a line for people, as `systemctl status` shows it.
  void Ready(const std::string& status);
  // Until the next Ready().
  void Reloading();
  void Stopping();

 private:
  void TellAlive();

  const absl::Duration alive_every_;  // zero: nobody asked for it
  base::Timer timer_;                // last: it calls the others
};

}  // namespace skiplane::app
