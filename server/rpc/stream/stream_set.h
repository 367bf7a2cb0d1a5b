// The streams that are open, so that a drain reaches them. Thread-safe.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "server/base/mutex.h"

namespace skiplane::rpc {

class MessageStream;

class StreamSet {
 public:
  // False after Drain(): the stream is not kept.
  bool Add(MessageStream* stream);
  // Of one that was added. After it the stream is told nothing.
  void Remove(MessageStream* stream);

  // Tells all that are open, once, that they are to end.
  void Drain();

 private:
  base::Mutex mutex_;
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<MessageStream*> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::rpc
