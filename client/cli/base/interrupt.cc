#include "client/cli/base/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "absl/time/clock.h"

namespace skiplane::cli {
namespace {

// A pipe that the handler writes into: its reader waits for the signal and for a time at once.
std::array<int, 2> signal_pipe{-1, -1};

void Handle(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// Whichever of the two signals comes next ends the process.
void Tell(int) {
  const int saved = errno;
  Handle(SIG_DFL, 0);
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = write(signal_pipe[1], &byte, 1);
  errno = saved;
}

}  // namespace

Interrupt::Interrupt() {
  if (pipe2(signal_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) signal_pipe = {-1, -1};
  Handle(Tell, SA_RESTART);
}

Interrupt::~Interrupt() {
  Handle(SIG_DFL, 0);
  close(signal_pipe[0]);
  close(signal_pipe[1]);
  signal_pipe = {-1, -1};
}

bool Interrupt::Wait(absl::Duration at_most) {
  const absl::Time end = absl::Now() + at_most;
  while (true) {
    const int64_t rest = absl::ToInt64Milliseconds(end - absl::Now()) + 1;
    pollfd waited{.fd = signal_pipe[0], .events = POLLIN, .revents = 0};
    const int found = poll(&waited, 1, at_most == absl::ZeroDuration()
                                           ? 0
                                           : static_cast<int>(std::clamp<int64_t>(rest, 0, 60000)));
    if (found > 0) return true;
    if (absl::Now() >= end) return false;
  }
}

}  // namespace skiplane::cli
