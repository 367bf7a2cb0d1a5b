#include "server/app/notifier.h"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <cstring>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"

namespace skiplane::app {
namespace {

void Tell(const std::string& state) {
  if (const int result = sd_notify(/*unset_environment=*/0, state.c_str()); result < 0) {
    base::Log(base::LogLevel::kWarn, "systemd_not_told",
              {{"why", std::strerror(-result)}, {"message", state}});
  }
}

// Half of what systemd waits for: one that comes late does no harm.
absl::Duration AliveEvery() {
  uint64_t patience_us = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/0, &patience_us) <= 0) return absl::ZeroDuration();
  return absl::Microseconds(patience_us / 2);
}

int64_t MonotonicMicroseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::ToInt64Microseconds(absl::DurationFromTimespec(now));
}

}  // namespace

Notifier::Notifier() : alive_every_(AliveEvery()) {
  if (alive_every_ > absl::ZeroDuration()) TellAlive();
}

void Notifier::TellAlive() {
  Tell("WATCHDOG=1");
  timer_.After(absl::ToChronoNanoseconds(alive_every_), [this] { TellAlive(); });
}

void Notifier::Ready(const std::string& status) {
  Tell(absl::StrCat("READY=1\nSTATUS=", status));
}

void Notifier::Reloading() {
  // The time tells which reload the next Ready() ends, where systemd waits for it.
  Tell(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", MonotonicMicroseconds()));
}

void Notifier::Stopping() { Tell("STOPPING=1\nSTATUS=draining"); }

}  // namespace skiplane::app
