// Leases: runs what a Scheduler decides. The scheduler knows who waits and what is believed of each
// lane; the dispatcher gives it the time, a lock, connections and a timer, and answers the callers.
//
// A parked call costs a ticket and an alarm: no thread and no query. Per lane stage at most two
// lease statements run at once, beside those in transactions that settle. Every call is answered
// exactly once. Thread-safe; one mutex, held while the scheduler decides, never over a statement or
// an answer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/broker/api/broker.h"
#include "server/broker/batch/answer_memory.h"
#include "server/broker/batch/context.h"
#include "server/broker/lease/lease_jobs.h"
#include "server/broker/lease/lease_tracker.h"
#include "server/broker/lease/lost_leases.h"
#include "server/broker/lease/probe_parties.h"
#include "server/broker/lease/request_finder.h"
#include "server/broker/lease/settle_and_lease_operation.h"
#include "server/broker/schedule/scheduler.h"
#include "server/broker/sessions/session_cache.h"

namespace skiplane::broker {

// Leases in a transaction that settles.
struct Reservation {
  LeaseRun run;
  std::vector<SettleAndLeasePtr> nexts;  // one per ticket
  store::Leased leased;
};

// Leases by the statement that makes the tasks.
struct HandOff {
  std::vector<LeaseRun> runs;  // of one lane each
  store::HandOff leases;       // its callers are those of the runs, one after the other
};

struct LeaseLimits {
  int waiting_max = 0;    // calls that wait
  int party_share = 100;  // percent of a party: of what is leased and not read, and of lane stages
};

class Dispatcher {
 public:
  // Gets leases whose caller had vanished, to be handed back uncharged.
  using OnOrphans = std::function<void(std::vector<model::LeaseToken>)>;

  Dispatcher(Context& context, SessionCache& sessions, LeaseTracker& tracker, OnOrphans on_orphans,
             LeaseLimits limits);

  // `queues` are those of the call, in its order.
  std::shared_ptr<PendingLease> Lease(LeaseCall call, const std::vector<QueuePtr>& queues,
                                      Callback<LeaseAnswer> done);
  // The lease of a call whose items are settled.
  void LeaseAfter(const SettleAndLeasePtr& next);

  // Reserves tasks for those of the calls that a stage of this lane can serve now, and whose turn
  // it is; the others lease after that. Every one that is returned must be ended.
  std::vector<Reservation> Reserve(pg::Session& session, int64_t lane,
                                   const std::vector<SettleAndLeasePtr>& nexts);
  // In the transaction.
  static absl::Status LeaseReserved(pg::Session& session, Reservation& reservation);
  // The transaction ended so. Who got nothing leases after it.
  void EndReservation(Reservation& reservation, const absl::Status& status);

  // Which of these tasks, about to be made, go to calls that wait; without runs none. It is ended
  // after the others were told of (Committed), with what was leased or why nothing was.
  HandOff BeginHandOff(absl::Span<const store::TaskRow> tasks);
  void EndHandOff(pg::Session& session, HandOff& hand_off,
                  absl::StatusOr<std::vector<store::LeasedRow>> leased);

  // A commit of this broker let tasks be ready, now or later. `now`: the database's time of it.
  void Committed(absl::Span<const store::UnleasedTasks> unleased, absl::Time now);

  void Notified(const model::Notification& notification);  // by another broker, or by upkeep

  void QueueChanged(const QueuePtr& queue);
  void QueueGone(const QueuePtr& queue);  // who waits for its tasks is refused: QUEUE_NOT_FOUND

  // Whether notifications of others are heard; else lanes are probed every second.
  void SetListening(bool is_listening);

  // Parked calls are answered empty, others refused.
  void BeginDrain();
  // Calls that wait are answered empty.
  void EndWaits();

  void EndTimed();  // the timer has stopped: what waits for it is ended

  std::map<std::string, int64_t> WaitingCalls() const;        // by queue
  int64_t WaitingCallsAt(model::LaneStage lane_stage) const;  // in one lane stage

 private:
  class Handle;

  // Holds the lock while the scheduler decides, then performs what it wants.
  class ABSL_SCOPED_LOCKABLE Event {
   public:
    explicit Event(Dispatcher& dispatcher) ABSL_EXCLUSIVE_LOCK_FUNCTION(dispatcher.mutex_);
    ~Event() ABSL_UNLOCK_FUNCTION();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    Step step;

   private:
    Dispatcher& dispatcher_;
  };

  static TicketPtr NewTicket(LeaseCall call, const std::vector<QueuePtr>& queues,
                             Callback<LeaseAnswer> done);
  void Arm() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnWake();

  // dispatcher_actions.cc
  void Perform(std::vector<Action> actions);
  void Perform(Answer& answer);
  void RunLease(model::LaneStage lane_stage, absl::StatusOr<pg::Session*> session);
  void EndOf(const std::vector<TicketPtr>& gone);
  void FinishRun(LeaseRun& run, absl::StatusOr<store::Leased> leased);
  void RunProbe(model::LaneStage lane_stage, absl::StatusOr<pg::Session*> session);
  std::vector<TicketPtr> Unanswered(std::vector<TicketPtr> tickets);
  void EndFind(const TicketPtr& ticket, absl::StatusOr<LeaseAnswer> found);
  void RecordMetrics(const LeaseRun& run, const store::Leased& leased);
  void Track(const LeaseRun& run, const store::Leased& leased);

  Context& context_;
  SessionCache& sessions_;
  LeaseTracker& tracker_;
  const OnOrphans on_orphans_;
  AnswerMemory memory_;
  LostLeases lost_;
  RequestFinder finder_;
  ProbeParties probe_parties_;
  LeaseJobs lease_jobs_;

  mutable base::Mutex mutex_;
  Scheduler scheduler_ ABSL_GUARDED_BY(mutex_);
  base::Timer::Id wake_ ABSL_GUARDED_BY(mutex_) = 0;
  base::SteadyTime wake_at_ ABSL_GUARDED_BY(mutex_) = base::SteadyTime::max();
};

}  // namespace skiplane::broker
