#include "server/rpc/stream/stream_set.h"

#include "server/rpc/stream/message_stream.h"

namespace skiplane::rpc {

// Streams are told under the lock, so that none goes away meanwhile.

StreamSet::StreamSet(absl::Duration stream_age)
    : stream_age_(absl::ToChronoNanoseconds(stream_age)) {
  if (stream_age == absl::InfiniteDuration()) return;
  timer_.After(stream_age_ / 10, [this] { RetireOld(); });
}

void StreamSet::RetireOld() {
  const auto begun_before = std::chrono::steady_clock::now() - stream_age_;
  {
    base::MutexLock lock(mutex_);
    for (MessageStream* const stream : streams_) {
      if (stream->begin() < begun_before) stream->Retire();
    }
  }
  timer_.After(stream_age_ / 10, [this] { RetireOld(); });
}

bool StreamSet::Add(MessageStream* stream) {
  base::MutexLock lock(mutex_);
  if (is_draining_) return false;
  streams_.insert(stream);
  return true;
}

void StreamSet::Remove(MessageStream* stream) {
  base::MutexLock lock(mutex_);
  streams_.erase(stream);
}

void StreamSet::Drain() {
  base::MutexLock lock(mutex_);
  is_draining_ = true;
  for (MessageStream* const stream : streams_) stream->Drain();
}

}  // namespace skiplane::rpc
