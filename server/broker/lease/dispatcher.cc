#include "server/broker/lease/dispatcher.h"

#include <algorithm>
#include <utility>

#include "server/broker/api/request_hash.h"
#include "server/broker/api/refusals.h"
#include "server/broker/lease/caller_sessions.h"
#include "server/broker/lease/wanted.h"

namespace skiplane::broker {
namespace {

// The lane stages grow with the calls that may wait, and are never fewer than by default: a few
// calls may be for as many.
WaitingLimits LimitsOf(const LeaseLimits& limits) {
  constexpr int64_t kEach = model::kWaitingLaneStagesMax / model::kWaitingCallsMax;
  return {limits.waiting_max, std::max(model::kWaitingLaneStagesMax, kEach * limits.waiting_max),
          limits.party_share};
}

}  // namespace

class Dispatcher::Handle : public PendingLease {
 public:
  Handle(Dispatcher& dispatcher, TicketPtr ticket)
      : dispatcher_(dispatcher), ticket_(std::move(ticket)) {}
  void Cancel() override {
    Event event(dispatcher_);
    dispatcher_.scheduler_.Cancel(ticket_, event.step);
  }

 private:
  Dispatcher& dispatcher_;
  const TicketPtr ticket_;
};

Dispatcher::Event::Event(Dispatcher& dispatcher) : dispatcher_(dispatcher) {
  dispatcher_.mutex_.Lock();
  step.now = std::chrono::steady_clock::now();
  step.has_spare = dispatcher_.context_.pool.HasSpare();
  AnswerMemory::Full full = dispatcher_.memory_.WhoIsFull();
  dispatcher_.scheduler_.SetFullMemory({full.for_all, std::move(full.parties)});
}

Dispatcher::Event::~Event() {
  dispatcher_.Arm();
  dispatcher_.mutex_.Unlock();
  dispatcher_.Perform(std::move(step.actions));
}

Dispatcher::Dispatcher(Context& context, SessionCache& sessions, LeaseTracker& tracker,
                       OnOrphans on_orphans, LeaseLimits limits)
    : context_(context),
      sessions_(sessions),
      tracker_(tracker),
      on_orphans_(std::move(on_orphans)),
      memory_({model::kAnswerBytesMax, limits.party_share},
              [this] {
                context_.timer.After(std::chrono::seconds(0), [this] {
                  Event event(*this);
                  scheduler_.MemoryFreed(event.step);
                });
              }),
      lost_(context, [this](LeaseRun& run, absl::StatusOr<store::Leased> leased) {
        FinishRun(run, std::move(leased));
      }),
      finder_(context, sessions,
              {[this](std::vector<TicketPtr> tickets) { return Unanswered(std::move(tickets)); },
               [this](const TicketPtr& ticket, absl::StatusOr<LeaseAnswer> found) {
                 EndFind(ticket, std::move(found));
               }}),
      lease_jobs_(context.pool,
                  [this](model::LaneStage lane_stage, absl::StatusOr<pg::Session*> session) {
                    RunLease(lane_stage, std::move(session));
                  }),
      scheduler_(LimitsOf(limits)) {}

void Dispatcher::EndTimed() {
  finder_.EndMinInterval();
  lost_.EndRetries();
}

TicketPtr Dispatcher::NewTicket(LeaseCall call, const std::vector<QueuePtr>& queues,
                                Callback<LeaseAnswer> done) {
  auto ticket = std::make_shared<Ticket>();
  ticket->waits = call.wait > absl::ZeroDuration();
  ticket->deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(call.wait);
  ticket->lease_duration = call.lease_duration.value_or(DefaultDuration(call, *queues.front()));
  if (!call.request_id.empty()) {
    ticket->request_key = HashLeaseRequest(call.worker_id, call.request_id);
  }
  ticket->wanted = WantedOf(call, queues);
  ticket->most_of = MostOf(call);
  ticket->call = std::move(call);
  ticket->done = std::move(done);
  return ticket;
}

std::shared_ptr<PendingLease> Dispatcher::Lease(LeaseCall call,
                                                const std::vector<QueuePtr>& queues,
                                                Callback<LeaseAnswer> done) {
  const TicketPtr ticket = NewTicket(std::move(call), queues, std::move(done));
  {
    Event event(*this);
    scheduler_.Admit(ticket, event.step);
  }
  lease_jobs_.Join(*ticket);
  return std::make_shared<Handle>(*this, ticket);
}

void Dispatcher::LeaseAfter(const SettleAndLeasePtr& next) {
  next->Become(Lease(next->Call(), next->queues(), [next](absl::StatusOr<LeaseAnswer> answer) {
    next->Leased(std::move(answer));
  }));
}

std::vector<Reservation> Dispatcher::Reserve(pg::Session& session, int64_t lane,
                                             const std::vector<SettleAndLeasePtr>& nexts) {
  if (nexts.empty()) return {};
  std::vector<TicketPtr> tickets;
  for (const SettleAndLeasePtr& next : nexts) {
    tickets.push_back(NewTicket(
        next->Call(), next->queues(),
        [next](absl::StatusOr<LeaseAnswer> answer) { next->Leased(std::move(answer)); }));
    tickets.back()->on_declined = [this, next] {
      if (next->Declined()) LeaseAfter(next);
    };
  }
  using Takers = std::pair<std::vector<TicketPtr>, std::vector<SettleAndLeasePtr>>;
  std::map<model::LaneStage, Takers> takers;
  std::vector<Reservation> reservations;
  {
    Event event(*this);
    for (size_t i = 0; i < nexts.size(); ++i) {
      const auto lane_stage = scheduler_.FindReservable(*tickets[i], lane, event.step.now);
      if (!lane_stage.has_value() || !nexts[i]->TryReserve()) continue;
      takers[*lane_stage].first.push_back(tickets[i]);
      takers[*lane_stage].second.push_back(nexts[i]);
    }
    for (auto& [lane_stage, taken] : takers) {
      Reservation& reservation = reservations.emplace_back();
      reservation.run = scheduler_.Reserve(lane_stage, std::move(taken.first), event.step);
      reservation.nexts = std::move(taken.second);
    }
  }
  std::vector<Reservation> prepared;
  for (Reservation& reservation : reservations) {
    if (PrepareSessions(session, sessions_, reservation.run).ok()) {
      prepared.push_back(std::move(reservation));
    } else {
      EndReservation(reservation, absl::AbortedError("not begun"));
    }
  }
  return prepared;
}

absl::Status Dispatcher::LeaseReserved(pg::Session& session, Reservation& reservation) {
  absl::StatusOr<store::Leased> leased = store::Lease(session, reservation.run.demand);
  if (leased.ok()) reservation.leased = *std::move(leased);
  return leased.status();
}

void Dispatcher::EndReservation(Reservation& reservation, const absl::Status& status) {
  if (status.ok()) {
    FinishRun(reservation.run, std::move(reservation.leased));
  } else if (IsOutcomeUnknown(status)) {
    FinishRun(reservation.run, status);
  } else {
    Event event(*this);
    scheduler_.Withdraw(reservation.run, event.step);
  }
}

void Dispatcher::Committed(absl::Span<const store::UnleasedTasks> unleased, absl::Time now) {
  Event event(*this);
  scheduler_.Committed(unleased, now, event.step);
}

void Dispatcher::Notified(const model::Notification& notification) {
  Event event(*this);
  scheduler_.Notified(notification, event.step);
}

void Dispatcher::QueueChanged(const QueuePtr& queue) {
  Event event(*this);
  scheduler_.QueueChanged(queue, event.step);
}

void Dispatcher::QueueGone(const QueuePtr& queue) {
  Event event(*this);
  scheduler_.QueueGone(queue, event.step);
}

void Dispatcher::SetListening(bool is_listening) {
  Event event(*this);
  scheduler_.SetListening(is_listening, event.step);
}

void Dispatcher::BeginDrain() {
  Event event(*this);
  scheduler_.BeginDrain(event.step);
}

void Dispatcher::EndWaits() {
  Event event(*this);
  scheduler_.EndWaits(event.step);
}

// The timer is asked anew only for an earlier time: most alarms are ends of waits that never come.
void Dispatcher::Arm() {
  const base::SteadyTime next = scheduler_.NextWake();
  if (next >= wake_at_) return;
  if (wake_ != 0 && !context_.timer.Cancel(wake_)) return;  // OnWake waits for the lock: it arms
  wake_at_ = next;
  wake_ = context_.timer.At(next, [this] { OnWake(); });
}

void Dispatcher::OnWake() {
  Event event(*this);
  wake_ = 0;
  wake_at_ = base::SteadyTime::max();
  scheduler_.Tick(event.step);
}

std::map<std::string, int64_t> Dispatcher::WaitingCalls() const {
  base::MutexLock lock(mutex_);
  return scheduler_.WaitingCalls();
}

int64_t Dispatcher::WaitingCallsAt(model::LaneStage lane_stage) const {
  base::MutexLock lock(mutex_);
  return scheduler_.WaitingCallsAt(lane_stage);
}

}  // namespace skiplane::broker
