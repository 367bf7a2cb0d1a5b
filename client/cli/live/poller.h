// Asks the broker for queues and workers again and again on a thread of its own, so that keys are
// heard while a broker does not answer.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/base/interrupt.h"
#include "client/cli/base/session.h"
#include "skiplane/v1/queue.pb.h"
#include "skiplane/v1/report.pb.h"

namespace skiplane::cli {

// What the last answers said.
struct Sight {
  std::vector<v1::QueueSummary> queues{};
  std::vector<v1::Worker> workers{};
  absl::Time time = absl::InfinitePast();  // of the last good answer
  absl::Status status{};                   // of the last question
  absl::Status workers_status{};           // not all who may see queues may see workers
};

// Asks once. What could not be had stays as it is in `sight`.
void Look(Session& session, Sight& sight);

class Poller {
 public:
  // Wakes `interrupt`, which must outlive it, when there is something new.
  Poller(const Session& session, absl::Duration interval, Interrupt& interrupt);
  // Does not wait for a question that is under way.
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  Sight Last() const;

 private:
  struct State;

  static void Run(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace skiplane::cli
