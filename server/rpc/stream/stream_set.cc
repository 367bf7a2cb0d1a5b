#include "server/rpc/stream/stream_set.h"

#include <algorithm>

#include "server/rpc/stream/open_stream.h"

namespace skiplane::rpc {
namespace {

constexpr int kLooks = 100;  // at all streams, while one grows old
constexpr absl::Duration kNever = absl::Hours(100'000);  // far below what the clock can say

}  // namespace

using std::chrono::steady_clock;

steady_clock::time_point OldFrom(steady_clock::time_point begin, std::chrono::nanoseconds age,
                                 absl::BitGenRef random) {
  return begin + age - age / 10 / kLooks * absl::Uniform(random, 0, kLooks);
}

// Streams are told under the lock, so that none goes away meanwhile.

StreamSet::StreamSet(absl::Duration stream_age)
    : stream_age_(absl::ToChronoNanoseconds(std::min(stream_age, kNever))) {
  timer_.After(stream_age_ / kLooks, [this] { RetireOld(); });
}

void StreamSet::RetireOld() {
  const steady_clock::time_point now = steady_clock::now();
  {
    base::MutexLock lock(mutex_);
    for (const auto& [stream, old_from] : streams_) {
      if (now >= old_from) stream->Retire();
    }
  }
  timer_.After(stream_age_ / kLooks, [this] { RetireOld(); });
}

bool StreamSet::Add(OpenStream* stream) {
  base::MutexLock lock(mutex_);
  if (is_draining_) return false;
  streams_.emplace(stream, OldFrom(stream->begin(), stream_age_, random_));
  return true;
}

void StreamSet::Remove(OpenStream* stream) {
  base::MutexLock lock(mutex_);
  streams_.erase(stream);
}

void StreamSet::Drain() {
  base::MutexLock lock(mutex_);
  is_draining_ = true;
  for (const auto& [stream, old_from] : streams_) stream->Drain();
}

}  // namespace skiplane::rpc
