#include "tests/bench/load/metronome.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace skiplane::bench {
namespace {

constexpr int kBeatsPerLease = 3;
constexpr std::chrono::milliseconds kTick{10};

}  // namespace

void BeatInTurn(const Stage& stage, size_t sessions, absl::Duration lease,
                const std::function<void(size_t)>& beat) {
  const double per_second =
      static_cast<double>(sessions) * kBeatsPerLease / absl::ToDoubleSeconds(lease);
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  size_t sent = 0;
  for (auto tick = begin; !stage.is_over(); tick += kTick) {
    never.wait_until(lock, tick, [] { return false; });
    const std::chrono::duration<double> passed = tick - begin;
    for (; static_cast<double>(sent) < per_second * passed.count(); ++sent) beat(sent % sessions);
  }
}

}  // namespace skiplane::bench
