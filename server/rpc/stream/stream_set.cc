#include "server/rpc/stream/stream_set.h"

#include "server/rpc/stream/message_stream.h"

namespace skiplane::rpc {

// Streams are told under the lock, so that none goes away meanwhile.

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
