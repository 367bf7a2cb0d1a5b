#include "server/broker/lease/dispatcher.h"

#include <algorithm>
#include <random>
#include <utility>

#include "server/broker/api/fingerprint.h"
#include "server/broker/api/refusals.h"

namespace skiplane::broker {
namespace {

std::mt19937_64& Random() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return generator;
}

// The order in which the caller's queues are asked: as listed, or drawn by weight.
std::vector<size_t> OrderOf(const LeaseCall& call) {
  std::vector<size_t> open(call.queues.size());
  for (size_t i = 0; i < open.size(); ++i) open[i] = i;
  if (call.strict_order || open.size() == 1) return open;
  std::vector<size_t> order;
  while (!open.empty()) {
    std::vector<int> weights;
    for (const size_t i : open) weights.push_back(call.queues[i].weight);
    std::discrete_distribution<size_t> draw(weights.begin(), weights.end());
    const size_t drawn = draw(Random());
    order.push_back(open[drawn]);
    open.erase(open.begin() + static_cast<ptrdiff_t>(drawn));
  }
  return order;
}

// The lanes of a queue, from a random one on, so that no lane is always the last to be asked; each
// at the stage that is asked for, or, later ones first, at every stage.
std::vector<model::LaneStage> PlacesOf(const model::Queue& queue, const LeaseQueue& asked) {
  std::vector<int64_t> lanes = queue.lanes;
  const size_t first = Random()() % lanes.size();
  std::rotate(lanes.begin(), lanes.begin() + static_cast<ptrdiff_t>(first), lanes.end());
  const auto only = queue.settings.FindStage(asked.stage);
  std::vector<model::LaneStage> places;
  for (int16_t stage = queue.settings.StageCount(); stage-- > 0;) {
    if (only.has_value() && stage != *only) continue;
    for (const int64_t lane : lanes) places.push_back({lane, stage});
  }
  return places;
}

int64_t BytesOf(const LeaseAnswer& answer) {
  size_t bytes = 0;
  for (const model::LeasedTask& task : answer.tasks) {
    bytes += sizeof(task) + task.payload.size() + task.key.size() + task.content_type.size();
    for (const auto& [name, value] : task.headers) bytes += name.size() + value.size();
  }
  return static_cast<int64_t>(bytes);
}

std::vector<std::string> PausedOf(const Ticket& ticket) {
  std::vector<std::string> paused;
  for (const Ticket::Stop& stop : ticket.stops) {
    const model::Queue& queue = *stop.lane->queue;
    if (queue.LeasesPaused() && (paused.empty() || paused.back() != queue.name)) {
      paused.push_back(queue.name);
    }
  }
  return paused;
}

}  // namespace

class Dispatcher::Handle : public PendingLease {
 public:
  Handle(Dispatcher& dispatcher, TicketPtr ticket)
      : dispatcher_(dispatcher), ticket_(std::move(ticket)) {}
  void Cancel() override { dispatcher_.OnCancel(ticket_); }

 private:
  Dispatcher& dispatcher_;
  const TicketPtr ticket_;
};

Dispatcher::Dispatcher(Context& context, SessionCache& sessions, LeaseTracker& tracker,
                       HandBack hand_back, int parked_max)
    : context_(context),
      sessions_(sessions),
      tracker_(tracker),
      hand_back_(std::move(hand_back)),
      parked_max_(parked_max),
      memory_(model::kAnswerBytesMax,
              [this] { context_.timer.After(std::chrono::seconds(0), [this] { OnRoom(); }); }),
      lost_(context, [this](LeaseRun& run, absl::StatusOr<store::Leased> leased) {
        Settle(run, std::move(leased));
      }) {}

std::shared_ptr<PendingLease> Dispatcher::Lease(LeaseCall call, std::vector<QueuePtr> queues,
                                                Done<LeaseAnswer> done) {
  const TicketPtr ticket = NewTicket(std::move(call), std::move(queues), std::move(done));
  Outbox outbox;
  base::MutexLock lock(mutex_);
  const bool answers_at_once = !ticket->waits || !ticket->request_key.empty();
  const bool is_full = ticket->waits && parked_ >= parked_max_;
  if (is_draining_ || is_full || (answers_at_once && memory_.IsFull())) {
    ticket->state = Ticket::State::kDone;
    const absl::Status refusal =
        is_draining_ ? Draining() : is_full ? TooManyWaitingLeases() : TooManyCalls();
    outbox.Add([ticket, refusal] { ticket->done(refusal); });
  } else {
    Count(ticket);
    Start(ticket, outbox);
  }
  return HandleOf(ticket);
}

TicketPtr Dispatcher::NewTicket(LeaseCall call, std::vector<QueuePtr> queues,
                                Done<LeaseAnswer> done) {
  auto ticket = std::make_shared<Ticket>();
  ticket->waits = call.wait > absl::ZeroDuration();
  ticket->lease_duration = call.lease_duration.value_or(DefaultDuration(call, *queues.front()));
  if (!call.request_id.empty()) {
    ticket->request_key = HashLeaseRequest(call.worker_id, call.request_id);
  }
  ticket->queues = std::move(queues);
  ticket->call = std::move(call);
  ticket->done = std::move(done);
  return ticket;
}

std::shared_ptr<PendingLease> Dispatcher::HandleOf(const TicketPtr& ticket) {
  return std::make_shared<Handle>(*this, ticket);
}

// From now on it is one of those that are limited, and ends when its wait does.
void Dispatcher::Count(const TicketPtr& ticket) {
  if (!ticket->waits) return;
  ++parked_;
  const auto deadline =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(ticket->call.wait);
  ticket->deadline = context_.timer.At(deadline, [this, ticket] { OnDeadline(ticket); });
}

// A call with a request id first looks for what an earlier one with this id got. One that is on its
// way in this broker is superseded: its caller is gone, or it would not ask again.
void Dispatcher::Start(const TicketPtr& ticket, Outbox& outbox) {
  if (ticket->request_key.empty()) {
    Enlist(ticket, outbox);
    return;
  }
  const auto [slot, is_first] = by_request_.try_emplace(ticket->request_key, ticket);
  if (!is_first && slot->second != ticket) {
    const TicketPtr earlier = slot->second;
    if (earlier->state == Ticket::State::kServing) {
      if (earlier->successor != nullptr) FinishEmpty(earlier->successor, outbox);
      earlier->successor = ticket;
      return;
    }
    FinishEmpty(earlier, outbox);
    by_request_[ticket->request_key] = ticket;
  }
  Find(ticket, outbox);
}

void Dispatcher::Find(const TicketPtr& ticket, Outbox& outbox) {
  ticket->state = Ticket::State::kServing;
  outbox.Add([this, ticket] {
    context_.pool.Submit([this, ticket](absl::StatusOr<pg::Session*> session) {
      RunFind(ticket, std::move(session));
    });
  });
}

Lane& Dispatcher::LaneOf(model::LaneStage place, const QueuePtr& queue) {
  std::unique_ptr<Lane>& lane = lanes_[place];
  if (lane == nullptr) lane = std::make_unique<Lane>(place);
  if (lane->queue == nullptr || lane->queue->version < queue->version) lane->queue = queue;
  return *lane;
}

void Dispatcher::AddStops(const TicketPtr& ticket) {
  absl::flat_hash_set<model::LaneStage> known;  // a call may name a queue and a stage of it
  for (const size_t i : OrderOf(ticket->call)) {
    for (const model::LaneStage place : PlacesOf(*ticket->queues[i], ticket->call.queues[i])) {
      if (ticket->queues.size() > 1 && !known.insert(place).second) continue;
      Lane& lane = LaneOf(place, ticket->queues[i]);
      lane.waiting.push_back(ticket);
      ticket->stops.push_back({&lane, std::prev(lane.waiting.end())});
    }
  }
  if (ticket->stops.size() == 1) return;
  for (const Ticket::Stop& stop : ticket->stops) ++stop.lane->many_stops;
}

void Dispatcher::Enlist(const TicketPtr& ticket, Outbox& outbox) {
  ticket->state = Ticket::State::kWaiting;
  if (ticket->stops.empty()) AddStops(ticket);
  std::vector<Lane*> lanes;
  for (const Ticket::Stop& stop : ticket->stops) lanes.push_back(stop.lane);
  for (Lane* lane : lanes) {  // the ticket may be answered, and lose its stops, on the way
    if (ticket->state != Ticket::State::kDone) Pump(*lane, outbox);
  }
}

// Empty because there is nothing, or because a lane could not be asked, or was not asked yet by a
// caller that does not wait: then the caller is told so.
void Dispatcher::FinishEmpty(const TicketPtr& ticket, Outbox& outbox) {
  if (is_draining_ && !ticket->waits && !ticket->IsExhausted()) {
    Finish(ticket, Draining(), outbox);
    return;
  }
  for (const Ticket::Stop& stop : ticket->stops) {
    if (stop.lane->error.ok() || is_draining_) continue;
    Finish(ticket, stop.lane->error, outbox);
    return;
  }
  LeaseAnswer empty;
  empty.paused_queues = PausedOf(*ticket);
  Finish(ticket, std::move(empty), outbox);
}

void Dispatcher::LeaveLanes(Ticket& ticket) {
  for (const Ticket::Stop& stop : ticket.stops) {
    if (ticket.stops.size() > 1) --stop.lane->many_stops;
    stop.lane->waiting.erase(stop.position);
  }
  ticket.stops.clear();
}

void Dispatcher::Finish(const TicketPtr& ticket, absl::StatusOr<LeaseAnswer> answer,
                        Outbox& outbox) {
  if (ticket->state == Ticket::State::kDone) return;
  ticket->state = Ticket::State::kDone;
  if (ticket->waits) --parked_;
  if (ticket->deadline != 0) context_.timer.Cancel(ticket->deadline);
  LeaveLanes(*ticket);
  if (answer.ok() && !answer->tasks.empty()) answer->memory = memory_.Hold(BytesOf(*answer));
  auto shared = std::make_shared<absl::StatusOr<LeaseAnswer>>(std::move(answer));
  outbox.Add([ticket, shared] { ticket->done(std::move(*shared)); });
  if (ticket->request_key.empty()) return;
  const auto named = by_request_.find(ticket->request_key);
  if (named == by_request_.end() || named->second != ticket) return;
  by_request_.erase(named);
  const TicketPtr successor = std::exchange(ticket->successor, nullptr);
  if (successor != nullptr && successor->state != Ticket::State::kDone) Start(successor, outbox);
}

void Dispatcher::OnDeadline(const TicketPtr& ticket) {
  Outbox outbox;
  base::MutexLock lock(mutex_);
  if (ticket->state == Ticket::State::kServing) ticket->is_expired = true;
  if (ticket->state == Ticket::State::kWaiting) FinishEmpty(ticket, outbox);
}

void Dispatcher::OnCancel(const TicketPtr& ticket) {
  Outbox outbox;
  base::MutexLock lock(mutex_);
  if (ticket->state == Ticket::State::kServing) ticket->is_cancelled = true;
  if (ticket->state == Ticket::State::kWaiting) FinishEmpty(ticket, outbox);
}

void Dispatcher::BeginDrain() {
  Outbox outbox;
  base::MutexLock lock(mutex_);
  is_draining_ = true;
  std::vector<TicketPtr> waiting;
  for (const auto& [number, lane] : lanes_) {
    for (const TicketPtr& ticket : lane->waiting) {
      ticket->is_expired = true;
      if (ticket->state == Ticket::State::kWaiting) waiting.push_back(ticket);
    }
  }
  for (const TicketPtr& ticket : waiting) FinishEmpty(ticket, outbox);
}

int64_t Dispatcher::WaitingCallsAt(model::LaneStage place) const {
  base::MutexLock lock(mutex_);
  const auto found = lanes_.find(place);
  return found == lanes_.end() ? 0 : static_cast<int64_t>(found->second->waiting.size());
}

std::map<std::string, int64_t> Dispatcher::WaitingCalls() const {
  base::MutexLock lock(mutex_);
  std::map<std::string, int64_t> calls;
  for (const auto& [number, lane] : lanes_) {
    calls[lane->queue->name] += static_cast<int64_t>(lane->waiting.size());
  }
  return calls;
}

}  // namespace skiplane::broker
