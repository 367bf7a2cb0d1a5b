// Leases: gathers the calls that wait for tasks of a lane into one statement, parks those for which
// there is nothing, and wakes them when something is committed, hinted at, or becomes due.
//
// A parked call costs a ticket in a list and an entry in the timer: no thread and no query. Per
// lane at most two lease statements run at once. Every ticket is answered exactly once.
// Thread-safe; one mutex, held for list work only, never over a statement or an answer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/broker/api/broker.h"
#include "server/broker/batch/answer_memory.h"
#include "server/broker/batch/context.h"
#include "server/broker/batch/outbox.h"
#include "server/broker/lease/lane.h"
#include "server/broker/lease/lease_run.h"
#include "server/broker/lease/lease_tracker.h"
#include "server/broker/lease/look.h"
#include "server/broker/lease/lost_leases.h"
#include "server/broker/lease/turns.h"
#include "server/broker/sessions/session_cache.h"
#include "server/model/hint.h"

namespace skiplane::broker {

class Dispatcher {
 public:
  // Gets leases whose caller had vanished, to be handed back uncharged.
  using HandBack = std::function<void(std::vector<model::LeaseToken>)>;

  Dispatcher(Context& context, SessionCache& sessions, LeaseTracker& tracker, HandBack hand_back,
             int parked_max);

  // `queues` are those of the call, in its order.
  std::shared_ptr<PendingLease> Lease(LeaseCall call, std::vector<QueuePtr> queues,
                                      Done<LeaseAnswer> done);

  // Takes up those of the calls that a stage of this lane can serve now, and whose turn it is; the
  // others are for Lease. Every one that is returned must be ended.
  std::vector<LeaseWithin> BeginWithin(pg::Session& session, int64_t lane,
                                       const std::vector<NextLeasePtr>& nexts);
  // In the transaction.
  static absl::Status RunWithin(pg::Session& session, LeaseWithin& within);
  // The transaction ended so.
  void EndWithin(LeaseWithin& within, const absl::Status& status);

  // A commit of this broker made tasks claimable; `now` is the database's time of that commit.
  void Committed(absl::Span<const store::Claimable> claimable, absl::Time now);

  // Another broker or upkeep says so.
  void Hinted(const model::Hint& hint);

  void QueueChanged(const QueuePtr& queue);

  // Whether hints of others are heard. While they are not, lanes are looked at every second.
  void SetListening(bool listening);

  // Parked calls are answered empty, further ones refused.
  void BeginDrain();

  // The timer has stopped: what waits for it is ended.
  void EndRetries() { lost_.EndRetries(); }

  // Waiting calls per queue, for the metrics.
  std::map<std::string, int64_t> WaitingCalls() const;

  // Those that wait for tasks of one stage of a lane.
  int64_t WaitingCallsAt(model::LaneStage place) const;

 private:
  class Handle;

  // dispatcher.cc: tickets come and go.
  TicketPtr NewTicket(LeaseCall call, std::vector<QueuePtr> queues, Done<LeaseAnswer> done);
  std::shared_ptr<PendingLease> HandleOf(const TicketPtr& ticket);
  void Count(const TicketPtr& ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddStops(const TicketPtr& ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Start(const TicketPtr& ticket, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enlist(const TicketPtr& ticket, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Find(const TicketPtr& ticket, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void LeaveLanes(Ticket& ticket);
  void Finish(const TicketPtr& ticket, absl::StatusOr<LeaseAnswer> answer, Outbox& outbox)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishEmpty(const TicketPtr& ticket, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDeadline(const TicketPtr& ticket);
  void OnCancel(const TicketPtr& ticket);
  Lane& LaneOf(model::LaneStage place, const QueuePtr& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // dispatcher_pump.cc: what to do next in a lane.
  void Pump(Lane& lane, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PumpNeighbours(Lane& lane, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayServe(const Ticket& ticket, const Lane& lane, base::SteadyTime now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork(const Lane& lane, base::SteadyTime now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Exhaust(Lane& lane, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Starve(Lane& lane, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnRoom();
  void StartLook(Lane& lane, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ArmTimer(Lane& lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnTimer(model::LaneStage place);
  void RunLook(model::LaneStage place, absl::StatusOr<pg::Session*> session);

  // dispatcher_lease.cc: lease statements.
  void StartLease(Lane& lane, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RunLease(model::LaneStage place, absl::StatusOr<pg::Session*> session);
  LeaseRun Gather(Lane& lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static LeaseRun RunOf(Lane& lane, const std::vector<TicketPtr>& tickets, int64_t count_max);
  void Settle(LeaseRun& run, absl::StatusOr<store::Leased> leased);
  void Deliver(LeaseRun& run, store::Leased leased, Outbox& outbox)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DeliverTo(const TicketPtr& ticket, Lane& lane, LeaseAnswer answer, Outbox& outbox)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Failed(LeaseRun& run, const absl::Status& status, Outbox& outbox)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Collided(LeaseRun& run, Outbox& outbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RunFind(const TicketPtr& ticket, absl::StatusOr<pg::Session*> session);
  void Count(const Lane& lane, const store::Leased& leased);

  // dispatcher_within.cc: leases in the transaction of an ack.
  Lane* FindPlaceWithin(const Ticket& ticket, int64_t lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Withdraw(LeaseWithin& within);

  Context& context_;
  SessionCache& sessions_;
  LeaseTracker& tracker_;
  const HandBack hand_back_;
  const int parked_max_;
  AnswerMemory memory_;
  LostLeases lost_;

  mutable base::Mutex mutex_;
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_listening_ ABSL_GUARDED_BY(mutex_) = false;
  int parked_ ABSL_GUARDED_BY(mutex_) = 0;  // tickets that wait
  Turns turns_ ABSL_GUARDED_BY(mutex_);
  // That wait for memory.
  absl::flat_hash_set<model::LaneStage> starved_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<model::LaneStage, std::unique_ptr<Lane>> lanes_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, TicketPtr> by_request_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
