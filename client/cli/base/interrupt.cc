#include "client/cli/base/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "client/cli/base/steady_now.h"

namespace skiplane::cli {
namespace {

constexpr int64_t kSameWithinMs = 1000;
constexpr absl::Duration kPollAtMost = absl::Hours(1);
constexpr char kSignal = 's';
constexpr char kWake = 'w';

// A pipe that the handler writes into: its reader waits for the signal and for a time at once.
std::array<int, 2> signal_pipe{-1, -1};
std::atomic<int> rest = 0;
std::atomic<void (*)()> at_end = nullptr;
std::atomic<int64_t> told_at_ms = 0;  // 0: none yet

int64_t NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000 + 1;
}

void Put(char byte) { [[maybe_unused]] const ssize_t written = write(signal_pipe[1], &byte, 1); }

// May run on several threads at once; does only what a signal handler may.
void Tell(int number) {
  const int saved = errno;
  const int64_t now = NowMs();
  int64_t before = told_at_ms.load();
  const bool is_same = before != 0 && now - before < kSameWithinMs;
  if (!is_same && told_at_ms.compare_exchange_strong(before, now)) {
    if (rest.fetch_sub(1) > 0) {
      Put(kSignal);
    } else {
      if (void (*const end)() = at_end.load(); end != nullptr) end();
      signal(number, SIG_DFL);
      raise(number);  // it comes when this handler has returned
    }
  }
  errno = saved;
}

void WakeUp(int) {
  const int saved = errno;
  Put(kWake);
  errno = saved;
}

void Handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  if (action.sa_handler == SIG_IGN && number != SIGTERM) return;
  action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt(InterruptOptions options) {
  if (pipe2(signal_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) signal_pipe = {-1, -1};
  rest = options.told;
  at_end = options.at_end;
  told_at_ms = 0;
  for (const int number : {SIGINT, SIGTERM}) Handle(number, Tell);
  if (options.with_hangup) Handle(SIGHUP, Tell);
  if (options.with_resize) Handle(SIGWINCH, WakeUp);
}

Interrupt::~Interrupt() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) Handle(number, SIG_DFL);
  close(signal_pipe[0]);
  close(signal_pipe[1]);
  signal_pipe = {-1, -1};
}

bool Interrupt::Wait(absl::Duration at_most, int descriptor) {
  const absl::Duration end = SteadyNow() + at_most;
  while (true) {
    const absl::Duration left = std::clamp(end - SteadyNow(), absl::ZeroDuration(), kPollAtMost);
    std::array<pollfd, 2> waited{pollfd{.fd = signal_pipe[0], .events = POLLIN, .revents = 0},
                                 pollfd{.fd = descriptor, .events = POLLIN, .revents = 0}};
    const int timeout_ms = static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
    if (poll(waited.data(), waited.size(), timeout_ms) > 0) {
      char byte = 0;
      if (read(signal_pipe[0], &byte, 1) == 1) return byte == kSignal;
      if (waited[1].revents != 0) return false;
    }
    if (SteadyNow() >= end) return false;
  }
}

void Interrupt::Wake() { Put(kWake); }

}  // namespace skiplane::cli
