#include <utility>

#include "server/broker/schedule/scheduler.h"

namespace skiplane::broker {
namespace {

// What has become due by now is there, too: no alarm may have told yet.
void CountDue(const Ticket& ticket, base::SteadyTime now) {
  for (const Ticket::Entry& entry : ticket.entries) entry.state->Due(now);
}

}  // namespace

// Whether this lane stage is known to have something more for the call, or a probe that is under
// way is about to tell.
bool Scheduler::CanFill(const Ticket& ticket, const Ticket::Entry& entry) const {
  const LaneStageState& state = *entry.state;
  if (full_.IsFor(ticket.call) || is_draining_ || state.queue->LeasesPaused()) return false;
  return !entry.has_served && (state.MayLease() || state.is_probing) &&
         ticket.RoomIn(state.lane_stage) > 0 && ticket.held_bytes < ticket.call.max_bytes;
}

LaneStageState* Scheduler::NextToFill(const Ticket& ticket) const {
  for (const Ticket::Entry& entry : ticket.entries) {
    if (CanFill(ticket, entry)) return entry.state;
  }
  return nullptr;
}

// Takes what a lane stage gave; it is answered unless another one has more.
void Scheduler::Fill(const TicketPtr& ticket, const LaneStageState& state, LeaseAnswer part,
                     Step& step) {
  const bool is_first = !ticket->IsFilling();
  ticket->Hold(state.lane_stage, std::move(part));
  if (is_first) {
    for (const Ticket::Entry& entry : ticket->entries) ++entry.state->filling;
  }
  CountDue(*ticket, step.now);
  if (ticket->MustEnd() || NextToFill(*ticket) == nullptr) FinishEmpty(ticket, step);
}

// A call that got tasks in the transaction of its ack goes on like one that was admitted.
void Scheduler::FillReserved(const TicketPtr& ticket, const LaneStageState& state, LeaseAnswer part,
                             Step& step) {
  ticket->state = Ticket::State::kWaiting;
  ticket->waits = false;
  if (ticket->wanted.size() > 1) Enter(ticket, step);
  Fill(ticket, state, std::move(part), step);
}

// Those that this lane stage gives nothing more go on to the next one, or are answered.
void Scheduler::AdvanceFilling(const LaneStageState& state, Step& step) {
  if (state.filling == 0) return;
  std::vector<TicketPtr> filling;
  state.waiting.ForEach([&filling](const TicketPtr& ticket) {
    const bool is_between = ticket->state == Ticket::State::kWaiting && ticket->IsFilling();
    if (is_between) filling.push_back(ticket);
  });
  for (const TicketPtr& ticket : filling) {
    if (ticket->state != Ticket::State::kWaiting) continue;
    CountDue(*ticket, step.now);
    LaneStageState* const next = NextToFill(*ticket);
    if (next == nullptr) {
      FinishEmpty(ticket, step);
    } else if (next->MayLease() && next->leases_running == 0) {
      Advance(*next, step);
    }
  }
}

}  // namespace skiplane::broker
