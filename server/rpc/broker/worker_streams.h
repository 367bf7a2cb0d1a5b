// The streams of workers, so that each worker has one and hears what became of its leases.
// Thread-safe; a stream is told under the lock, so that it does not go away meanwhile.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/model/lease.h"

namespace skiplane::rpc {

// By task and lease number.
using LeaseNumbers = absl::flat_hash_set<std::pair<model::TaskId, int64_t>>;

class WorkerStream {
 public:
  // The worker has begun another stream: nothing more is pushed on this one.
  virtual void Yield() = 0;
  // The other one is greeted: this one ends. What its hello did not name is given back; null: it
  // was refused.
  virtual void Replaced(const LeaseNumbers* named) = 0;
  // Somebody took leases from some workers.
  virtual void OnLeasesTaken() = 0;
  // The worker's session ended or was lost.
  virtual void OnSessionGone() = 0;

 protected:
  ~WorkerStream() = default;
};

class WorkerStreams {
 public:
  // Has earlier ones of the worker yield.
  void Add(WorkerStream* stream, const std::string& worker_id);
  // The hello of one that was added is answered: earlier ones of its worker are replaced.
  void Opened(WorkerStream* stream, const model::SessionId& session, const LeaseNumbers& named);
  void Refused(WorkerStream* stream);
  // Of one that was added or not. After it the stream is told nothing.
  void Remove(WorkerStream* stream);

  void TellLeasesTaken();
  void TellSessionsGone(absl::Span<const model::SessionId> sessions);

 private:
  struct Place {
    std::string worker_id;
    model::SessionId session{};  // once it is opened
    bool is_replaced = false;
  };

  void Replace(WorkerStream* by, const LeaseNumbers* named) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  base::Mutex mutex_;
  absl::flat_hash_map<WorkerStream*, Place> streams_ ABSL_GUARDED_BY(mutex_);
  // In the order in which they came.
  absl::flat_hash_map<std::string, std::vector<WorkerStream*>> by_worker_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<model::SessionId, WorkerStream*> by_session_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::rpc
