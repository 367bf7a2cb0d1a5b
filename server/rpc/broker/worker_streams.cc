#include "server/rpc/broker/worker_streams.h"

#include <algorithm>
#include <utility>

namespace skiplane::rpc {

void WorkerStreams::Add(WorkerStream* stream, const std::string& worker_id) {
  base::MutexLock lock(mutex_);
  streams_[stream].worker_id = worker_id;
  std::vector<WorkerStream*>& of_worker = by_worker_[worker_id];
  for (WorkerStream* const earlier : of_worker) earlier->Yield();
  of_worker.push_back(stream);
}

void WorkerStreams::Opened(WorkerStream* stream, const model::SessionId& session,
                           const LeaseNumbers& named) {
  base::MutexLock lock(mutex_);
  Replace(stream, &named);
  Place& place = streams_[stream];
  if (place.is_replaced) return;  // the session is told to the one that came later
  place.session = session;
  by_session_[session] = stream;
}

void WorkerStreams::Refused(WorkerStream* stream) {
  base::MutexLock lock(mutex_);
  Replace(stream, nullptr);
}

void WorkerStreams::Replace(WorkerStream* by, const LeaseNumbers* named) {
  if (streams_[by].is_replaced) return;
  std::vector<WorkerStream*>& of_worker = by_worker_[streams_[by].worker_id];
  const auto own = std::find(of_worker.begin(), of_worker.end(), by);
  for (auto earlier = of_worker.begin(); earlier != own; ++earlier) {
    streams_[*earlier].is_replaced = true;
    (*earlier)->Replaced(named);
  }
  of_worker.erase(of_worker.begin(), own);  // a client that does not read may keep them for long
}

void WorkerStreams::Remove(WorkerStream* stream) {
  base::MutexLock lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  const auto of_worker = by_worker_.find(found->second.worker_id);
  if (of_worker != by_worker_.end()) {
    std::erase(of_worker->second, stream);
    if (of_worker->second.empty()) by_worker_.erase(of_worker);
  }
  const auto of_session = by_session_.find(found->second.session);
  if (of_session != by_session_.end() && of_session->second == stream) {
    by_session_.erase(of_session);
  }
  streams_.erase(found);
}

void WorkerStreams::TellLeasesTaken() {
  base::MutexLock lock(mutex_);
  for (const auto& [stream, place] : streams_) stream->OnLeasesTaken();
}

void WorkerStreams::TellSessionsGone(absl::Span<const model::SessionId> sessions) {
  base::MutexLock lock(mutex_);
  for (const model::SessionId& session : sessions) {
    const auto found = by_session_.find(session);
    if (found != by_session_.end()) found->second->OnSessionGone();
  }
}

}  // namespace skiplane::rpc
