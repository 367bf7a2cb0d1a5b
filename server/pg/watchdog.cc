#include "server/pg/watchdog.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "absl/container/flat_hash_set.h"
#include "server/base/mutex.h"

namespace skiplane::pg {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::time_point kNever = Clock::time_point::max();
constexpr std::chrono::seconds kInterval(1);

}  // namespace

// All that are. From the first on, it and its thread live as long as the process.
class Kennel {
 public:
  static Kennel& Get() {
    static Kennel* const kennel = new Kennel;
    return *kennel;
  }

  void Add(Watchdog* watchdog) {
    base::MutexLock lock(mutex_);
    all_.insert(watchdog);
    came_.NotifyOne();
  }

  void Remove(Watchdog* watchdog) {
    base::MutexLock lock(mutex_);
    all_.erase(watchdog);
  }

 private:
  Kennel() {
    std::thread([this] { Loop(); }).detach();
  }

  void Loop() {
    base::MutexLock lock(mutex_);
    while (true) {
      while (all_.empty()) came_.Wait(mutex_);
      const Clock::time_point now = Clock::now();
      for (Watchdog* const each : all_) {
        if (each->limit_.load() > now && each->end_.load() > now) continue;
        each->has_bitten_ = true;
        shutdown(each->socket_, SHUT_RDWR);
      }
      while (Clock::now() < now + kInterval) came_.WaitUntil(mutex_, now + kInterval);
    }
  }

  base::Mutex mutex_;
  base::CondVar came_;
  absl::flat_hash_set<Watchdog*> all_ ABSL_GUARDED_BY(mutex_);
};

// The number may be that of another's socket by the time it is needed: hence a duplicate.
Watchdog::Watchdog(int socket)
    : socket_(fcntl(socket, F_DUPFD_CLOEXEC, 0)), limit_(kNever), end_(kNever) {
  Kennel::Get().Add(this);
}

Watchdog::~Watchdog() {
  Kennel::Get().Remove(this);
  close(socket_);
}

void Watchdog::Arm(std::chrono::nanoseconds patience) { limit_ = Clock::now() + patience; }

void Watchdog::Disarm() { limit_ = kNever; }

void Watchdog::EndWithin(std::chrono::nanoseconds rest) { end_ = Clock::now() + rest; }

}  // namespace skiplane::pg
