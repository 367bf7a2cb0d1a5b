// What an InMemoryBroker is: its store, its workers, and the course that their attempts take.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/src/testing/memory_store.h"
#include "client/src/worker/tally.h"
#include "skiplane/testing.h"

namespace skiplane::internal {

// A worker. What changes is guarded by the state's mutex.
struct MemoryCrew {
  MemoryCrew(std::string id_, WorkerOptions options_, Handler handler_)
      : id(std::move(id_)),
        options(std::move(options_)),
        handler(std::move(handler_)),
        tally(options) {}

  bool HasReachedItsNumber() const {
    return options.max_tasks > 0 && taken >= options.max_tasks;
  }

  const std::string id;
  const WorkerOptions options;
  const Handler handler;
  Tally tally;
  int64_t taken = 0;
  bool is_stopped = false;
  absl::Time grace_end = absl::InfiniteFuture();
  bool was_asked_to_stop = false;
};

using MemoryCrewPtr = std::shared_ptr<MemoryCrew>;

struct MemoryState {
  explicit MemoryState(const InMemoryOptions& options) : store(options) {}

  // Called by a handler, these do nothing.
  bool RunOne();
  int RunUntilIdle();
  int RunFor(absl::Duration duration);

  MemoryCrewPtr AddCrew(WorkerOptions options, Handler handler);
  // Called by a handler, it lets that go on: what it says is taken when it returns.
  void Stop(const MemoryCrewPtr& crew);
  void EndGrace(const MemoryCrewPtr& crew);
  void StopAll();
  void Advance(absl::Duration duration);

  std::mutex mutex;
  MemoryStore store;
  int enqueues_to_fail = 0;
  absl::Status enqueue_error;

 private:
  class Turn;

  bool RunNext(std::set<int64_t>& released);
  int RunReady();
  // The next crew that has a task to run, with that; with the mutex held.
  MemoryCrewPtr Lease(const std::set<int64_t>& released, LeasedTask& task, std::stop_token& stop);
  // Asks the handler that runs to stop, if its worker's time is over.
  void AskToStop();
  SettleResult Settle(const LeasedTask& task, const Result& result);
  void End(MemoryCrew& crew, const LeasedTask& task, Result result, std::set<int64_t>& released);

  // Whose handlers may run, one thread at a time.
  std::mutex run_mutex_;
  std::atomic<std::thread::id> runner_{};

  // Guarded by `mutex`.
  std::vector<MemoryCrewPtr> crews_;
  size_t next_crew_ = 0;
  int crews_begun_ = 0;
  MemoryCrewPtr running_;
  std::stop_source running_stop_{std::nostopstate};
};

}  // namespace skiplane::internal
