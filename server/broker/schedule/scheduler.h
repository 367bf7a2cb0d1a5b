// Decides who leases what, and when: gathers the calls that wait for tasks of a lane stage into
// one statement, keeps those waiting for which there is nothing, and serves them when something is
// committed, notified or due.
//
// A state machine: events come in, actions (action.h) go out in the event's Step. No thread, lock,
// clock, timer, connection or random number is inside; the Dispatcher supplies them, and
// tests/simulation plays them. The same events in the same order give the same actions.
//
// Promises, each an invariant of the simulation:
//   - every ticket gets exactly one Answer (or one Decline, if it was reserved);
//   - while a permitted caller waits and statements succeed, a ready task is handed out within 5
//     seconds, whatever notifications are lost, if probes fit into their budget;
//   - a statement leases no task while one that goes before it is known to be ready;
//   - in a lane stage principals are served in turn, within each its workers, within each its calls
//     as they came (turns.h); but for those whose request id was taken, and for reservations, which
//     take what those who wait leave.
// Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "server/broker/schedule/action.h"
#include "server/broker/schedule/alarms.h"
#include "server/broker/schedule/full_memory.h"
#include "server/broker/schedule/lane_stage_state.h"
#include "server/broker/schedule/probe_budget.h"
#include "server/broker/schedule/statement.h"
#include "server/broker/schedule/waiting_room.h"
#include "server/model/notification.h"

namespace skiplane::broker {

class Scheduler {
 public:
  explicit Scheduler(WaitingLimits limits) : waiting_(limits) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  // Callers come and go. Those that wait are answered empty; at a drain others are refused.
  void Admit(const TicketPtr& ticket, Step& step);
  void Cancel(const TicketPtr& ticket, Step& step);
  void EndWaits(Step& step);
  void BeginDrain(Step& step);

  // What is heard. `now`: the database's time of that commit.
  void Committed(absl::Span<const store::UnleasedTasks> unleased, absl::Time now, Step& step);
  void Notified(const model::Notification& notification, Step& step);
  void QueueChanged(const QueuePtr& queue, Step& step);
  void QueueGone(const QueuePtr& queue, Step& step);  // who waits for it is refused
  void SetListening(bool is_listening, Step& step);  // if not, all are probed every second
  void SetFullMemory(FullMemory full) { full_ = std::move(full); }
  void MemoryFreed(Step& step);

  void Tick(Step& step);  // at NextWake() at the latest
  base::SteadyTime NextWake() const { return alarms_.Next(); }

  // A lease statement: without tickets there is nothing to lease any more, and it is over. Else it
  // ends with what was leased, or an error: nothing was. kAlreadyExists: something is leased under
  // the request id of one of them.
  LeaseRun BeginLease(model::LaneStage lane_stage, Step& step);
  void EndLease(LeaseRun& run, absl::StatusOr<store::Leased> leased, Step& step);

  ProbeStart BeginProbe(model::LaneStage lane_stage, Step& step);
  void EndProbe(model::LaneStage lane_stage, const ProbeStart& start,
                const absl::StatusOr<ProbeResult>& seen, Step& step);
  void EndFind(const TicketPtr& ticket, absl::StatusOr<LeaseAnswer> found, Step& step);

  // For calls that lease in the transaction of their ack, in that lane. Such a ticket was not
  // admitted: it is answered if it gets tasks, else declined. The first stage of the lane, in the
  // caller's order, that may serve it at once:
  std::optional<model::LaneStage> FindReservable(const Ticket& ticket, int64_t lane,
                                                 base::SteadyTime now) const;
  // Ends by EndLease, or by Withdraw when the transaction was rolled back.
  LeaseRun Reserve(model::LaneStage lane_stage, std::vector<TicketPtr> tickets, Step& step);
  void Withdraw(const LeaseRun& run, Step& step);

  // The callers who get the first of tasks that are about to be made, ready at once; nobody if
  // something may go before them. Ends by EndLease, as BeginLease, maybe with nothing leased.
  LeaseRun HandOff(model::LaneStage lane_stage, int64_t count, Step& step);
  const std::map<std::string, int64_t>& WaitingCalls() const { return calls_; }  // by queue
  int64_t WaitingCallsAt(model::LaneStage lane_stage) const;

 private:
  // scheduler.cc: tickets.
  void Start(const TicketPtr& ticket, Step& step);
  static void Find(const TicketPtr& ticket, bool is_urgent, Step& step);
  void Enlist(const TicketPtr& ticket, Step& step);
  void Enter(const TicketPtr& ticket, Step& step);
  static void Leave(Ticket& ticket);
  void Count(Ticket& ticket, const std::string& queue);
  void Finish(const TicketPtr& ticket, absl::StatusOr<LeaseAnswer> answer, Step& step);
  void FinishEmpty(const TicketPtr& ticket, Step& step);
  void Expire(const TicketPtr& ticket, Step& step);
  // The lane stage had nothing for this call, which does not wait. Whether none has anything.
  static bool NoteEmpty(const Ticket::Place& place);
  // It can be asked: those who took its failure for nothing to be had ask it again.
  static void Recover(LaneStageState& state);
  LaneStageState& StateOf(const Ticket::Wanted& wanted);

  // scheduler_lane.cc: what to do next in a lane stage.
  void Advance(LaneStageState& state, Step& step);
  void DoNext(LaneStageState& state, Step& step);
  void AdvanceNeighbours(LaneStageState& state, Step& step);
  bool MayServe(const Ticket::Place& place, const LaneStageState& state, base::SteadyTime now,
                LaneStageState** blocker = nullptr) const;
  TicketPtr NextServed(const LaneStageState& state, base::SteadyTime now, Blockers* blockers) const;
  void MarkEmpty(LaneStageState& state, Step& step);
  void WaitForMemory(LaneStageState& state, Step& step);
  void Arm(LaneStageState& state);
  void Wake(LaneStageState& state, Step& step);
  static void Probe(LaneStageState& state, Step& step);

  // scheduler_fill.cc: calls that hold tasks, and take more elsewhere.
  bool CanFill(const Ticket& ticket, const Ticket::Entry& entry) const;
  LaneStageState* NextToFill(const Ticket& ticket) const;
  void Fill(const TicketPtr& ticket, const LaneStageState& state, LeaseAnswer part, Step& step);
  void FillReserved(const TicketPtr& ticket, const LaneStageState& state, LeaseAnswer part,
                    Step& step);
  void AdvanceFilling(const LaneStageState& state, Step& step);

  // scheduler_lease.cc: lease statements.
  Dealt Deal(LaneStageState& state, int64_t count_max, bool fills, base::SteadyTime now) const;
  static LeaseRun RunOf(LaneStageState& state, Dealt dealt);
  void AdvanceAllOf(const LeaseRun& run, Step& step);
  void Deliver(const LeaseRun& run, store::Leased leased, Step& step);
  void DeliverTo(const TicketPtr& ticket, const LaneStageState& state, LeaseAnswer answer,
                 Step& step);
  void Failed(const LeaseRun& run, const absl::Status& status, Step& step);
  void Collided(const LeaseRun& run, Step& step);

  bool is_draining_ = false, is_listening_ = false;
  FullMemory full_;
  WaitingRoom waiting_;
  base::SteadyTime waits_ended_{};  // of those who came before
  Alarms alarms_;
  ProbeBudget probe_budget_;
  LaneStages wait_for_memory_;
  std::map<model::LaneStage, std::unique_ptr<LaneStageState>> states_;
  absl::flat_hash_map<int64_t, QueuePtr> queues_;  // by lane; a call may know an older version
  absl::flat_hash_map<std::string, TicketPtr> by_request_;
  std::map<std::string, int64_t> calls_;  // in lists, by queue; tickets point to the numbers
};

}  // namespace skiplane::broker
