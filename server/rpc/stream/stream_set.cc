#include "server/rpc/stream/stream_set.h"

#include "server/rpc/stream/message_stream.h"

namespace skiplane::rpc {
namespace {

constexpr int kLooks = 100;  // at all streams, while one grows old

}  // namespace

using std::chrono::steady_clock;

// Streams are told under the lock, so that none goes away meanwhile.

StreamSet::StreamSet(absl::Duration stream_age)
    : retires_(stream_age != absl::InfiniteDuration()),
      stream_age_(absl::ToChronoNanoseconds(stream_age)) {
  if (retires_) timer_.After(stream_age_ / kLooks, [this] { RetireOld(); });
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

bool StreamSet::Add(MessageStream* stream) {
  base::MutexLock lock(mutex_);
  if (is_draining_) return false;
  steady_clock::time_point old_from = steady_clock::time_point::max();
  if (retires_) {
    const std::chrono::nanoseconds earlier = stream_age_ / 10;
    old_from = stream->begin() + stream_age_ -
               earlier * absl::Uniform(random_, 0, kLooks) / kLooks;
  }
  streams_.emplace(stream, old_from);
  return true;
}

void StreamSet::Remove(MessageStream* stream) {
  base::MutexLock lock(mutex_);
  streams_.erase(stream);
}

void StreamSet::Drain() {
  base::MutexLock lock(mutex_);
  is_draining_ = true;
  for (const auto& [stream, old_from] : streams_) stream->Drain();
}

}  // namespace skiplane::rpc
