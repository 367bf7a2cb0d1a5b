#include <algorithm>
#include <utility>

#include "server/base/reason.h"
#include "server/broker/schedule/scheduler.h"
#include "server/model/limits.h"

namespace skiplane::broker {
namespace {

constexpr int kConflictsMax = 10;

// Again and again something was leased under the request id and settled before it was found.
absl::Status RequestTaken() {
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "other calls lease under this request_id at the same time; repeat the call");
}

absl::Duration Remaining(base::SteadyTime lives_until, base::SteadyTime now) {
  return absl::FromChrono(lives_until - now);
}

// How many tasks are left for those who have not waited: what is believed to be there, less what
// is wanted by others who wait already.
int64_t SpareIn(const Lane& lane) {
  int64_t spare = std::min<int64_t>(lane.belief.count(), 2 * model::kBatchRowsMax);
  for (const TicketPtr& ticket : lane.waiting) {
    if (spare <= 0) break;
    if (ticket->state == Ticket::State::kWaiting) spare -= ticket->call.max_tasks;
  }
  return std::min<int64_t>(spare, model::kBatchRowsMax);
}

}  // namespace

// Callers from the front, as many as `count_max` tasks can serve.
std::vector<TicketPtr> Scheduler::Gather(const Lane& lane, int64_t count_max,
                                         base::SteadyTime now) const {
  std::vector<TicketPtr> tickets;
  int64_t demanded = 0;
  for (const TicketPtr& ticket : lane.waiting) {
    if (static_cast<int64_t>(tickets.size()) >= count_max) break;
    // With a large backlog the first callers are served fully; few tasks are spread over all.
    if (demanded >= count_max && count_max == model::kBatchRowsMax) break;
    if (!MayServe(*ticket, lane, now)) continue;
    demanded += ticket->call.max_tasks;
    tickets.push_back(ticket);
  }
  return tickets;
}

// From now on these tickets are served by this lane, with at most `count_max` tasks together.
LeaseRun Scheduler::RunOf(Lane& lane, std::vector<TicketPtr> tickets, int64_t count_max) {
  LeaseRun run;
  run.lane_stage = lane.lane_stage;
  run.queue = lane.queue;
  run.demand.lane = lane.lane_stage.lane;
  run.demand.stage = lane.lane_stage.stage;
  run.demand.bounds = lane.bounds.Current();
  std::vector<int64_t> demands;
  int64_t demanded = 0;
  for (const TicketPtr& ticket : tickets) {
    ticket->state = Ticket::State::kServing;
    demands.push_back(ticket->call.max_tasks);
    demanded += ticket->call.max_tasks;
    store::LeaseCaller& caller = run.demand.callers.emplace_back();
    caller.max_bytes = ticket->call.max_bytes;
    caller.request_id = ticket->request_key;
  }
  run.tickets = std::move(tickets);
  run.lives_until.resize(run.tickets.size());
  run.demand.slots = DealSlots(demands, std::min(demanded, count_max));
  run.snapshot = lane.bounds.Begin();
  run.announced_before = lane.belief.announced();
  lane.belief.Asked(static_cast<int64_t>(run.demand.slots.size()));
  return run;
}

LeaseRun Scheduler::BeginLease(model::LaneStage lane_stage, Step& step) {
  Lane& lane = *lanes_.at(lane_stage);
  LeaseRun run;
  run.lane_stage = lane_stage;
  const bool may_run = !lane.queue->LeasesPaused() && !is_memory_full_;
  const int64_t count_max = std::min<int64_t>(lane.belief.count(), model::kBatchRowsMax);
  std::vector<TicketPtr> tickets;
  if (lane.MayLease() && may_run) tickets = Gather(lane, count_max, step.now);
  if (!tickets.empty()) {
    run = RunOf(lane, std::move(tickets), count_max);
  } else {
    --lane.leases_running;
    Advance(lane, step);
  }
  AdvanceNeighbours(lane, step);
  return run;
}

void Scheduler::EndLease(LeaseRun& run, absl::StatusOr<store::Leased> leased, Step& step) {
  Lane& lane = *lanes_.at(run.lane_stage);
  if (!run.is_reservation) --lane.leases_running;
  if (leased.ok()) {
    Recover(lane);
    const bool was_raised = lane.bounds.IsRaised();
    lane.bounds.End(run.snapshot, LastKeys(run, leased->rows));
    lane.belief.Leased(static_cast<int64_t>(run.demand.slots.size()),
                       static_cast<int64_t>(leased->rows.size()), IsCutByBytes(run, *leased),
                       run.announced_before);
    if (!was_raised) {
      lane.rescan_due = std::max<base::SteadyTime>(lane.rescan_due, step.now + Lane::kRescanEvery);
    }
    Deliver(run, *std::move(leased), step);
  } else if (absl::IsAlreadyExists(leased.status())) {
    lane.bounds.End(run.snapshot, {});
    Collided(run, step);
  } else {
    lane.bounds.Fail(run.snapshot);
    Failed(run, leased.status(), step);
  }
  Advance(lane, step);
  AdvanceNeighbours(lane, step);
  AdvanceLanesOf(run, step);
}

// While a lane served them, others that they want may have got tasks, and could not have them.
void Scheduler::AdvanceLanesOf(const LeaseRun& run, Step& step) {
  std::set<model::LaneStage> lanes;
  for (const TicketPtr& ticket : run.tickets) {
    if (ticket->state != Ticket::State::kWaiting || ticket->entries.size() < 2) continue;
    for (const Ticket::LaneEntry& entry : ticket->entries) lanes.insert(entry.lane->lane_stage);
  }
  for (const model::LaneStage lane_stage : lanes) Advance(*lanes_.at(lane_stage), step);
}

void Scheduler::Deliver(const LeaseRun& run, store::Leased leased, Step& step) {
  Lane& lane = *lanes_.at(run.lane_stage);
  std::vector<LeaseAnswer> answers(run.tickets.size());
  for (store::LeasedRow& row : leased.rows) {
    NameQueue(*lane.queue, row.task);
    answers[static_cast<size_t>(row.caller)].tasks.push_back(std::move(row.task));
  }
  for (size_t i = 0; i < run.tickets.size(); ++i) {
    answers[i].lease_remaining = Remaining(run.lives_until[i], step.now);
    if (!run.is_reservation) {
      DeliverTo(run.tickets[i], std::move(answers[i]), step);
    } else if (answers[i].tasks.empty()) {
      step.actions.push_back(Decline{run.tickets[i]});
    } else {
      step.actions.push_back(Answer{run.tickets[i], std::move(answers[i])});
    }
  }
}

// Ends a ticket's service in a lane, with tasks or without.
void Scheduler::DeliverTo(const TicketPtr& ticket, LeaseAnswer answer, Step& step) {
  ticket->state = Ticket::State::kWaiting;
  if (ticket->is_cancelled) {
    HandBack orphans;
    for (const model::LeasedTask& task : answer.tasks) orphans.tokens.push_back(task.token);
    FinishEmpty(ticket, step);
    if (!orphans.tokens.empty() && ticket->request_key.empty()) {
      step.actions.push_back(std::move(orphans));
    }
    return;
  }
  if (!answer.tasks.empty()) {
    Finish(ticket, std::move(answer), step);
    return;
  }
  // That there is nothing a probe tells: others may hold rows locked that they do not take.
  if (ticket->MustEnd()) FinishEmpty(ticket, step);
}

// Nothing was leased. Callers that wait go on waiting: the database may come back in time.
void Scheduler::Failed(const LeaseRun& run, const absl::Status& status, Step& step) {
  Lane& lane = *lanes_.at(run.lane_stage);
  lane.Failed(status, step.now);
  lane.belief.Forget();
  for (const TicketPtr& ticket : run.tickets) {
    if (run.is_reservation) {
      step.actions.push_back(Decline{ticket});
      continue;
    }
    ticket->state = Ticket::State::kWaiting;
    if (ticket->is_cancelled || ticket->IsSuperseded()) {
      FinishEmpty(ticket, step);
    } else if (ticket->is_expired || !ticket->waits) {
      Finish(ticket, status, step);
    }
  }
}

// Nothing was leased, because another broker leases under the request id of one of the callers. It
// is not known of which one: all that have one look again for what was leased under it, also those
// whose wait is over; the others go on waiting.
void Scheduler::Collided(const LeaseRun& run, Step& step) {
  lanes_.at(run.lane_stage)->belief.Unasked(static_cast<int64_t>(run.demand.slots.size()));
  for (const TicketPtr& ticket : run.tickets) {
    ticket->state = Ticket::State::kWaiting;
    if (ticket->is_cancelled || (ticket->is_expired && ticket->request_key.empty())) {
      FinishEmpty(ticket, step);
    } else if (ticket->request_key.empty()) {
      continue;
    } else if (ticket->IsSuperseded()) {
      FinishEmpty(ticket, step);  // the repeat looks for itself
    } else if (++ticket->conflicts == kConflictsMax) {
      Finish(ticket, RequestTaken(), step);
    } else {
      LeaveLanes(*ticket);
      Find(ticket, step);
    }
  }
}

std::optional<model::LaneStage> Scheduler::FindReservable(const Ticket& ticket, int64_t lane,
                                                          base::SteadyTime now) const {
  const bool is_repeat = !ticket.request_key.empty() && by_request_.contains(ticket.request_key);
  if (is_draining_ || is_memory_full_ || is_repeat) return std::nullopt;
  for (const Ticket::Wanted& wanted : ticket.wanted) {
    const auto found = lanes_.find(wanted.lane_stage);
    if (found == lanes_.end()) return std::nullopt;  // it is to be probed before any behind it
    const Lane& known = *found->second;
    if (wanted.lane_stage.lane == lane && known.MayLease() && !known.queue->LeasesPaused() &&
        SpareIn(known) > 0) {
      // Whoever is in the list has it rescanned; reservations alone would not.
      if (known.bounds.IsRaised() && known.RescanAt() <= now) return std::nullopt;
      return wanted.lane_stage;
    }
    if (known.BlocksLater(now)) return std::nullopt;
  }
  return std::nullopt;
}

LeaseRun Scheduler::Reserve(model::LaneStage lane_stage, std::vector<TicketPtr> tickets,
                            Step& step) {
  Lane& lane = *lanes_.at(lane_stage);
  LeaseRun run = RunOf(lane, std::move(tickets), SpareIn(lane));
  run.is_reservation = true;
  AdvanceNeighbours(lane, step);
  return run;
}

// Nothing was leased, and nobody is to hear of it.
void Scheduler::Withdraw(const LeaseRun& run, Step& step) {
  Lane& lane = *lanes_.at(run.lane_stage);
  lane.bounds.End(run.snapshot, {});
  lane.belief.Unasked(static_cast<int64_t>(run.demand.slots.size()));
  for (const TicketPtr& ticket : run.tickets) step.actions.push_back(Decline{ticket});
  Advance(lane, step);
}

}  // namespace skiplane::broker
