#include "tests/support/machine_clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace {

std::atomic<int64_t> seconds_back = 0;

}  // namespace

// The program's own stands before the C library's.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec -= seconds_back.load();
  return result;
}

namespace skiplane::test {

void SetMachineClockBack(absl::Duration step) { seconds_back = absl::ToInt64Seconds(step); }

}  // namespace skiplane::test
