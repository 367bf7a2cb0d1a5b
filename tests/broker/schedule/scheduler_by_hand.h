// A scheduler that a test plays by hand: it makes the events, and reads the actions as text,
// such as "probe 1; lease 2; answer ann: 3 tasks".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "gtest/gtest.h"
#include "server/broker/schedule/scheduler.h"

namespace skiplane::broker {

std::string Print(const std::vector<Action>& actions);

class SchedulerByHand : public ::testing::Test {
 protected:
  using Event = absl::FunctionRef<void(Scheduler&, Step&)>;
  static constexpr std::chrono::seconds kWait{10};
  static constexpr std::chrono::milliseconds kSinceEmpty{100};

  explicit SchedulerByHand(WaitingLimits limits = {.calls = 100});

  // What follows from an event now.
  std::string Do(Event event);

  // The queue of a lane: queue "q1" has lane 1.
  QueuePtr QueueOf(int64_t lane) { return queues_[lane]; }
  std::string Pause(int64_t lane, bool is_paused = true);

  // A caller that wants up to 5 tasks of these lanes, in this order. Without a wait it is answered
  // at once.
  TicketPtr Caller(const std::string& name, const std::vector<int64_t>& lanes,
                   std::chrono::milliseconds wait = kWait);
  std::string Admit(const TicketPtr& ticket);
  std::string Cancel(const TicketPtr& ticket);

  // So many tasks are committed here; or will be ready after `due_in`.
  std::string Commit(int64_t lane, int64_t count, absl::Duration due_in = absl::ZeroDuration());
  // Another broker says that ready ones were.
  std::string Notify(int64_t lane, int64_t count, bool is_ready = true);

  // A probe that was asked for begins; and it ends, and saw so many ready.
  ProbeStart BeginProbe(int64_t lane);
  std::string EndProbe(int64_t lane, const ProbeStart& start, int64_t ready);
  // It begins and ends now, and saw so many ready.
  std::string Probe(int64_t lane, int64_t ready);
  std::string FailProbe(int64_t lane);
  // A lane that was found to be empty a moment ago, before anybody of the test came.
  void MakeEmpty(int64_t lane);

  // A lease statement that was asked for begins, and ends with so many tasks.
  LeaseRun Begin(int64_t lane);
  std::string End(LeaseRun& run, size_t count);
  std::string Lease(int64_t lane, size_t count);
  std::string FailLease(LeaseRun& run);

  // Time passes, and the scheduler is called if it wants to be.
  std::string After(std::chrono::milliseconds span);

  base::SteadyTime now_{std::chrono::hours(1)};
  bool has_spare_ = true;
  Scheduler scheduler_;
  std::string begun_;  // what followed from the last Begin() or BeginProbe()

 private:
  absl::Time DatabaseNow() const;

  std::map<int64_t, std::shared_ptr<model::Queue>> queues_;
  int64_t last_id_ = 0;
};

}  // namespace skiplane::broker
