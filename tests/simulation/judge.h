// Holds the invariants of a scheduler against what a simulated installation does. The first broken
// one is kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/broker/schedule/scheduler.h"
#include "tests/simulation/caller.h"
#include "tests/simulation/tables.h"

namespace skiplane::simulation {

// A ready task is handed out within this, and the time of the statements meanwhile, while a
// permitted caller waits and statements succeed: an empty lane is read again after 4 s, one whose
// start is skipped 1 s after a lease.
inline constexpr std::chrono::seconds kHandOutWithin(5);
inline constexpr int kWaysMeanwhile = 6;  // to the database or back
// A broker hears within this that a queue was resumed.
inline constexpr std::chrono::milliseconds kHeardWithin(20);
// So often in a row others of a kind may be served before those whose turn it is: statements end in
// another order than they begin.
inline constexpr int kPassedMax = 4;

class Judge {
 public:
  using LeaseId = std::pair<int64_t, int64_t>;  // the task's, and the lease number

  // `finds_missed`: also tasks that a broker does not know are found in time. `slowest`: ms that a
  // way to the database or back takes.
  Judge(const Tables& tables, bool finds_missed, int slowest)
      : tables_(tables),
        finds_missed_(finds_missed),
        hand_out_within_(kHandOutWithin + kWaysMeanwhile * std::chrono::milliseconds(slowest)) {}

  const std::string& verdict() const { return verdict_; }
  bool is_broken() const { return !verdict_.empty(); }
  void Break(const std::string& invariant);

  // Nobody may lease there; or everybody may again, brokers that have not heard of it excepted.
  void Paused(LaneStage lane_stage) { paused_.insert(lane_stage); }
  void Resumed(LaneStage lane_stage, base::SteadyTime at) {
    paused_.erase(lane_stage);
    resumed_[lane_stage] = at;
  }

  void Answered(Caller& caller);  // each call exactly once
  void End(const std::map<const broker::Ticket*, Caller>& callers);

  // A statement skips no task that its scheduler knew of, nor one that was ready for long.
  void Taken(const simulation::Taken& taken, const broker::LeaseRun& run,
             const std::vector<int64_t>& known, const Knowledge& knowledge, absl::Time now,
             base::SteadyTime at);  // `known`: sorted

  // A hand-off passes over no task that its scheduler knew of, there or where its callers want
  // tasks from before.
  void HandedOff(const broker::LeaseRun& run, const Knowledge& knowledge, absl::Time now,
                 base::SteadyTime at);

  // Each leased task goes to one caller, or back; or the caller keeps it and takes more.
  void Delivered(const broker::LeaseRun& run, const std::vector<model::LeaseToken>& leased,
                 const std::vector<broker::Action>& actions);
  // What callers kept they get, or it goes back.
  void Kept(const std::vector<broker::Action>& actions);

  // A caller that does not wait is answered empty only if nothing was known when it came, and
  // nothing is expected now.
  void AnsweredEmpty(const Caller& caller, const Knowledge& knowledge, absl::Time now,
                     base::SteadyTime at);

  // Nor if something was leased under its request id before `since`, by whatever broker.
  void AnsweredNothing(const Caller& caller, base::SteadyTime since);

  // A caller that gets less than it asked for left nothing behind that was known when it came and
  // is expected now, in lanes that gave it nothing.
  void AnsweredShort(const Caller& caller, const std::vector<model::LeasedTask>& tasks,
                     const Knowledge& knowledge, absl::Time now, base::SteadyTime at);

  // A statement is dealt out to principals in turn, within each to its workers, within each to its
  // calls: who could take more has no less than another of the same kind, but for one.
  void Dealt(const broker::LeaseRun& run, int broker, const std::vector<Caller*>& waiting);

  // Its first turn is that of who has waited longest since the last task, while no other statement
  // of the lane stage has ever been under way with it: what that gives is not known yet.
  void First(const broker::LeaseRun& run, int broker, bool is_alone,
             const std::vector<Caller*>& waiting, base::SteadyTime at);

  // Turn for turn: while a call waits, no principal is served again and again that its own waits
  // for, no worker that its own waits for, and no later call of its worker. All that one statement
  // serves counts as once.
  void Served(const broker::LeaseRun& run, const std::set<const broker::Ticket*>& got, int broker,
              const std::map<const broker::Ticket*, Caller>& callers,
              const std::vector<Caller*>& waiting);

  // No ready task that can be found and no caller wait for each other for long.
  void Waiting(const std::vector<Caller*>& waiting, const std::vector<Knowledge>& brokers,
               absl::Time now, base::SteadyTime at);

  // While a ready task and a caller of this broker wait, it is doing something about it, or will of
  // its own accord: the task's lane, or one that this caller wants before it, has a statement under
  // way, or an alarm; for a caller that holds tasks, a statement.
  void UnderWay(const std::vector<Caller*>& waiting, int broker, const Knowledge& knowledge,
                absl::Time now);

 private:
  // Since when it can be leased by everybody who looks.
  base::SteadyTime ReadySince(const Task& task, absl::Time now, base::SteadyTime at) const;
  using Times = std::map<LaneStage, base::SteadyTime>;
  Times OldestFor(const Knowledge& knowledge, absl::Time now, base::SteadyTime at) const;

  const Tables& tables_;
  const bool finds_missed_;
  const std::chrono::milliseconds hand_out_within_;
  std::map<const broker::Ticket*, std::vector<LeaseId>> kept_;
  struct LastServed {
    bool is_known = true;
    base::SteadyTime dealt;                      // the statement that is under way
    std::map<std::string, base::SteadyTime> at;  // of principals and workers: when it was dealt
  };
  std::map<std::pair<int, LaneStage>, LastServed> last_served_;  // by each broker
  std::set<LaneStage> paused_;
  Times resumed_;
  std::string verdict_;
};

}  // namespace skiplane::simulation
