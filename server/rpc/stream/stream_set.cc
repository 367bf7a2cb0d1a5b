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
  const auto worker = workers_.find(stream);
  if (worker == workers_.end()) return;
  const auto named = by_worker_.find(worker->second);
  if (named != by_worker_.end() && named->second == stream) by_worker_.erase(named);
  workers_.erase(worker);
}

void StreamSet::SetWorker(MessageStream* stream, const std::string& worker_id) {
  base::MutexLock lock(mutex_);
  workers_[stream] = worker_id;
  MessageStream*& of_worker = by_worker_[worker_id];
  if (of_worker != nullptr) of_worker->Replaced();
  of_worker = stream;
}

void StreamSet::TellLeasesTaken() {
  base::MutexLock lock(mutex_);
  for (const auto& [stream, worker] : workers_) stream->OnLeasesTaken();
}

void StreamSet::Drain() {
  base::MutexLock lock(mutex_);
  is_draining_ = true;
  for (MessageStream* const stream : streams_) stream->Drain();
}

}  // namespace skiplane::rpc
