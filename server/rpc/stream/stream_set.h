// The streams that are open, so that a drain reaches them, and each worker has one. Thread-safe.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
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

  // The stream is that of this worker now; one that was before is told that it is replaced.
  void SetWorker(MessageStream* stream, const std::string& worker_id);

  // Tells those of workers that somebody took leases from some.
  void TellLeasesTaken();

  // Tells all that are open, once, that they are to end.
  void Drain();

 private:
  base::Mutex mutex_;
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<MessageStream*> streams_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, MessageStream*> by_worker_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<MessageStream*, std::string> workers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::rpc
