// Leases tasks while there is room for them, up to the end of a burst or of max_tasks: one thread,
// one call at a time.
//
// A call without an answer is repeated under its request id, so that leases made by a broker which
// died before it could answer are found again instead of being kept alive by this worker's
// heartbeats.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/src/worker/command.h"
#include "client/src/worker/denial_pause.h"
#include "client/src/worker/holdings.h"
#include "client/src/worker/line.h"
#include "client/src/worker/tally.h"
#include "skiplane/client.h"

namespace skiplane::internal {

struct FetchLimits {
  // As in WorkerOptions.
  bool burst = false;
  int64_t max_tasks = 0;
  // Called, if it is set, after a call that was answered, when the time has come; that ends the
  // fetcher.
  std::chrono::steady_clock::time_point leave_at{};
  std::function<void()> leave{};
};

class Fetcher {
 public:
  // `call` says everything but max_tasks and request_id.
  Fetcher(Client client, LeaseCall call, FetchLimits limits, Command& command, Holdings& holdings,
          Tally& tally);
  ~Fetcher() { Stop(); }

  // Holdings must be closed. Nothing is leased after it returns. Idempotent.
  void Stop();

  // Of a burst; see Worker::WaitForEnd.
  absl::Status WaitForEnd();

 private:
  void Loop();
  bool Leaves();
  // How many tasks the next call may get; 0: there is none.
  int WaitForRoom();
  // Asks once: how many tasks came. Once it was answered the next call is a new one.
  absl::StatusOr<size_t> Ask(int max_tasks);
  // After a call without tasks, which began when `freed` places had been given back.
  void Pause(const absl::StatusOr<size_t>& count, absl::Time begin, uint64_t freed);
  void End(absl::Status status);
  // Fetches what the call that Stop() cut off may have leased, so that it can be handed back.
  void AskForRest(int max_tasks);

  Client client_;
  LeaseCall call_;
  const FetchLimits limits_;
  Command& command_;
  Holdings& holdings_;
  Tally& tally_;
  Line line_;
  DenialPause denial_pause_;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<absl::Status> end_;
  std::thread thread_;
};

}  // namespace skiplane::internal
