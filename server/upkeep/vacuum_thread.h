// Runs Vacuum once in a while, on a thread of its own and a connection that lasts as long as one
// run: its commands may take minutes, and the other chores must not wait for them.
#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "server/metrics/metrics.h"
#include "server/pg/session.h"
#include "server/upkeep/vacuum.h"

namespace skiplane::upkeep {

struct VacuumThreadOptions {
  pg::ConnectOptions connect;  // its lock_timeout is replaced
  absl::Duration interval = absl::Minutes(1);
  VacuumOptions vacuum{};
};

class VacuumThread {
 public:
  // Nothing is done while `is_due` returns false; it is called from the thread. `metrics` outlives
  // the object.
  VacuumThread(VacuumThreadOptions options, absl::AnyInvocable<bool()> is_due,
               metrics::Metrics* metrics);
  ~VacuumThread();

  void Start();

  // Stops a command that runs, and ends the thread: within some seconds, also when PostgreSQL does
  // not answer. What it could not stop then goes on there. Idempotent.
  void Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skiplane::upkeep
