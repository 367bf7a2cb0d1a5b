#include <algorithm>
#include <map>
#include <utility>

#include "server/broker/api/refusals.h"
#include "server/broker/lease/dispatcher.h"

namespace skiplane::broker {
namespace {

// How many tasks are left for those who have not waited: what is believed to be there, less what
// is wanted by others who wait already.
int64_t SpareIn(const Lane& lane, const Ticket* own) {
  int64_t spare = std::min<int64_t>(lane.expected, 2 * model::kBatchRowsMax);
  for (const TicketPtr& ticket : lane.waiting) {
    if (spare <= 0) break;
    const bool waits = ticket->state == Ticket::State::kWaiting && ticket.get() != own;
    if (waits) spare -= ticket->call.max_tasks;
  }
  return std::min<int64_t>(spare, model::kBatchRowsMax);
}

}  // namespace

// The first stage of the lane, in the caller's order, that may serve it at once.
Lane* Dispatcher::FindPlaceWithin(const Ticket& ticket, int64_t lane) {
  const base::SteadyTime now = std::chrono::steady_clock::now();
  for (const Ticket::Stop& stop : ticket.stops) {
    const bool may_lease = stop.lane->MayLease() && !stop.lane->queue->LeasesPaused();
    if (stop.lane->place.lane != lane || !may_lease) continue;
    if (MayServe(ticket, *stop.lane, now) && SpareIn(*stop.lane, &ticket) > 0) return stop.lane;
  }
  return nullptr;
}

std::vector<LeaseWithin> Dispatcher::BeginWithin(pg::Session& session, int64_t lane,
                                                 const std::vector<NextLeasePtr>& nexts) {
  std::map<Lane*, std::pair<std::vector<TicketPtr>, std::vector<NextLeasePtr>>> takers;
  std::vector<LeaseWithin> withins;
  if (nexts.empty()) return withins;
  {
    Outbox outbox;
    base::MutexLock lock(mutex_);
    for (const NextLeasePtr& next : nexts) {
      if (is_draining_ || parked_ >= parked_max_ || memory_.IsFull()) break;
      const TicketPtr ticket =
          NewTicket(next->Call(), next->queues(), [next](absl::StatusOr<LeaseAnswer> answer) {
            next->Leased(std::move(answer));
          });
      const bool is_repeat =
          !ticket->request_key.empty() && by_request_.contains(ticket->request_key);
      if (is_repeat || !next->TakeUpWithin()) continue;
      if (!ticket->request_key.empty()) by_request_[ticket->request_key] = ticket;
      Count(ticket);
      AddStops(ticket);
      Lane* const place = FindPlaceWithin(*ticket, lane);
      if (place == nullptr) {
        ticket->done = [](const absl::StatusOr<LeaseAnswer>&) {};
        FinishEmpty(ticket, outbox);
        next->PutBack();
        continue;
      }
      ticket->state = Ticket::State::kServing;
      takers[place].first.push_back(ticket);
      takers[place].second.push_back(next);
      outbox.Add([next, handle = HandleOf(ticket)] { next->Become(handle); });
    }
    for (auto& [place, taken] : takers) {
      LeaseWithin& within = withins.emplace_back();
      within.run = RunOf(*place, taken.first, std::max<int64_t>(1, SpareIn(*place, nullptr)));
      within.run.is_within = true;
      within.nexts = std::move(taken.second);
      PumpNeighbours(*place, outbox);
    }
  }
  for (auto within = withins.begin(); within != withins.end();) {
    if (PrepareSessions(session, sessions_, within->run).ok()) {
      ++within;
    } else {
      Withdraw(*within);
      within = withins.erase(within);
    }
  }
  return withins;
}

absl::Status Dispatcher::RunWithin(pg::Session& session, LeaseWithin& within) {
  absl::StatusOr<store::Leased> leased = store::Lease(session, within.run.demand);
  if (leased.ok()) within.leased = *std::move(leased);
  return leased.status();
}

void Dispatcher::EndWithin(LeaseWithin& within, const absl::Status& status) {
  if (status.ok()) {
    Settle(within.run, std::move(within.leased));
  } else if (IsOutcomeUnknown(status)) {
    Settle(within.run, status);
  } else {
    Withdraw(within);
  }
}

// Nothing was leased, and nobody is to hear of it.
void Dispatcher::Withdraw(LeaseWithin& within) {
  Outbox outbox;
  base::MutexLock lock(mutex_);
  Lane& lane = *lanes_.at(within.run.place);
  lane.bounds.End(within.run.bounds_ticket, {});
  lane.Unask(static_cast<int64_t>(within.run.demand.places.size()));
  for (size_t i = 0; i < within.nexts.size(); ++i) {
    const TicketPtr& ticket = within.run.tickets[i];
    ticket->state = Ticket::State::kWaiting;
    ticket->done = [](const absl::StatusOr<LeaseAnswer>&) {};
    FinishEmpty(ticket, outbox);
    within.nexts[i]->PutBack();
  }
  Pump(lane, outbox);
}

}  // namespace skiplane::broker
