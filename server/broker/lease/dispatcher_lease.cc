#include <algorithm>
#include <utility>

#include "server/base/reason.h"
#include "server/broker/api/refusals.h"
#include "server/broker/lease/decision_log.h"
#include "server/broker/lease/dispatcher.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

constexpr int kConflictsMax = 10;

// Again and again something was leased under the request id and settled before it was found.
absl::Status RequestTaken() {
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "other calls lease under this request_id at the same time; repeat the call");
}

absl::Duration Remaining(base::SteadyTime lives_until) {
  return absl::FromChrono(lives_until - std::chrono::steady_clock::now());
}

}  // namespace

void Dispatcher::StartLease(Lane& lane, Outbox& outbox) {
  ++lane.running;
  outbox.Add([this, place = lane.place] {
    context_.pool.Submit([this, place](absl::StatusOr<pg::Session*> session) {
      RunLease(place, std::move(session));
    });
  });
}

// Takes callers from the front, as many as the expected tasks can serve.
LeaseRun Dispatcher::Gather(Lane& lane) {
  const int64_t count_max = std::min<int64_t>(lane.expected, model::kBatchRowsMax);
  const base::SteadyTime now = std::chrono::steady_clock::now();
  std::vector<TicketPtr> tickets;
  int64_t demanded = 0;
  for (const TicketPtr& ticket : lane.waiting) {
    if (static_cast<int64_t>(tickets.size()) >= count_max) break;
    // A backlog fills the first callers' hands; a few tasks are spread over all who wait.
    if (demanded >= count_max && lane.expected >= model::kBatchRowsMax) break;
    if (!MayServe(*ticket, lane, now)) continue;
    demanded += ticket->call.max_tasks;
    tickets.push_back(ticket);
  }
  return RunOf(lane, tickets, count_max);
}

// From now on these tickets are served by this lane, with at most `count_max` tasks together.
LeaseRun Dispatcher::RunOf(Lane& lane, const std::vector<TicketPtr>& tickets, int64_t count_max) {
  LeaseRun run;
  run.place = lane.place;
  run.tickets = tickets;
  run.demand.lane = lane.place.lane;
  run.demand.stage = lane.place.stage;
  run.demand.bounds = lane.bounds.Current();
  const pg::Uuid shared_ledger = model::NewSessionId();
  std::vector<int64_t> demands;
  int64_t demanded = 0;
  for (const TicketPtr& ticket : tickets) {
    ticket->state = Ticket::State::kServing;
    demands.push_back(ticket->call.max_tasks);
    demanded += ticket->call.max_tasks;
    const bool is_alone = !ticket->request_key.empty();
    run.demand.callers.push_back({{},
                                  ticket->call.max_bytes,
                                  is_alone ? model::NewSessionId() : shared_ledger,
                                  ticket->request_key});
  }
  run.demand.places = DealPlaces(demands, std::min(demanded, count_max));
  run.bounds_ticket = lane.bounds.Begin();
  run.committed_before = lane.Ask(static_cast<int64_t>(run.demand.places.size()));
  return run;
}

void Dispatcher::RunLease(model::LaneStage place, absl::StatusOr<pg::Session*> session) {
  LeaseRun run;
  {
    Outbox outbox;
    base::MutexLock lock(mutex_);
    Lane& lane = *lanes_.at(place);
    const bool may_run = !lane.queue->LeasesPaused() && !memory_.IsFull();
    if (lane.MayLease() && may_run) run = Gather(lane);
    PumpNeighbours(lane, outbox);
    if (run.tickets.empty()) {
      if (run.bounds_ticket != 0) lane.bounds.End(run.bounds_ticket, {});
      --lane.running;
      Pump(lane, outbox);
      return;
    }
  }
  absl::StatusOr<store::Leased> leased = store::Leased();
  if (!session.ok()) {
    leased = session.status();
  } else if (absl::Status status = PrepareSessions(**session, sessions_, run); !status.ok()) {
    leased = IsOutcomeUnknown(status) ? RepeatLater() : status;
  } else if (!run.demand.bounds.empty()) {
    leased = store::Lease(**session, run.demand);
  }
  Settle(run, std::move(leased));
}

void Dispatcher::Settle(LeaseRun& run, absl::StatusOr<store::Leased> leased) {
  if (IsOutcomeUnknown(leased.status())) {
    lost_.Resolve(std::move(run));
    return;
  }
  Outbox outbox;
  base::MutexLock lock(mutex_);
  Lane& lane = *lanes_.at(run.place);
  if (!run.is_within) --lane.running;
  if (leased.ok()) {
    lane.error = absl::OkStatus();
    lane.bounds.End(run.bounds_ticket, LastKeys(leased->rows));
    lane.Got(static_cast<int64_t>(run.demand.places.size()),
             static_cast<int64_t>(leased->rows.size()), IsCutByBytes(run, *leased),
             run.committed_before);
    Count(lane, *leased);
    LogLeased(*lane.queue, run, leased->rows.size(), lane.waiting.size());
    Deliver(run, *std::move(leased), outbox);
  } else if (absl::IsAlreadyExists(leased.status())) {
    lane.bounds.End(run.bounds_ticket, {});
    Collided(run, outbox);
  } else {
    lane.bounds.Fail(run.bounds_ticket);
    Failed(run, leased.status(), outbox);
  }
  Pump(lane, outbox);
  PumpNeighbours(lane, outbox);
  if (!run.is_within) return;
  // Only this lane was asked. Who got nothing waits for its others, too, from now on.
  for (const TicketPtr& ticket : run.tickets) {
    if (ticket->state == Ticket::State::kWaiting) Enlist(ticket, outbox);
  }
}

void Dispatcher::Count(const Lane& lane, const store::Leased& leased) {
  const std::string& queue = lane.queue->name;
  int64_t first = 0;
  for (const store::LeasedRow& row : leased.rows) {
    if (row.task.token.attempt == 1) {
      ++first;
      const std::optional<absl::Time>& planned = row.task.planned_time;
      if (planned) context_.metrics.ScheduleLag(queue, leased.now - *planned);
    }
    context_.metrics.QueueWait(queue, leased.now - row.task.schedule_time);
  }
  const int64_t all = static_cast<int64_t>(leased.rows.size());
  if (first > 0) context_.metrics.Leased(queue, "first", first);
  if (all > first) context_.metrics.Leased(queue, "retry", all - first);
  context_.metrics.Batch("lease", all);
}

void Dispatcher::Deliver(LeaseRun& run, store::Leased leased, Outbox& outbox) {
  Lane& lane = *lanes_.at(run.place);
  std::vector<LeaseAnswer> answers(run.tickets.size());
  absl::flat_hash_map<pg::Uuid, std::vector<model::LeaseToken>> by_ledger;
  for (store::LeasedRow& row : leased.rows) {
    const auto caller = static_cast<size_t>(row.caller);
    by_ledger[run.demand.callers[caller].ledger].push_back(row.task.token);
    row.task.queue = lane.queue->name;
    row.task.stage = lane.queue->settings.StageName(row.task.token.stage);
    answers[caller].tasks.push_back(std::move(row.task));
  }
  for (const auto& [ledger, tokens] : by_ledger) tracker_.Leased(run.place.lane, ledger, tokens);
  for (size_t i = 0; i < run.tickets.size(); ++i) {
    answers[i].lease_remaining = Remaining(run.lives_until[i]);
    DeliverTo(run.tickets[i], lane, std::move(answers[i]), outbox);
  }
}

// Ends a ticket's service in a lane, with tasks or without.
void Dispatcher::DeliverTo(const TicketPtr& ticket, Lane& lane, LeaseAnswer answer,
                           Outbox& outbox) {
  ticket->state = Ticket::State::kWaiting;
  if (ticket->is_cancelled) {
    std::vector<model::LeaseToken> orphans;
    for (const model::LeasedTask& task : answer.tasks) orphans.push_back(task.token);
    FinishEmpty(ticket, outbox);
    if (orphans.empty() || !ticket->request_key.empty()) return;
    context_.metrics.OrphanLeasesReleased(static_cast<int64_t>(orphans.size()));
    outbox.Add([this, orphans = std::move(orphans)]() mutable { hand_back_(std::move(orphans)); });
    return;
  }
  if (!answer.tasks.empty()) {
    Finish(ticket, std::move(answer), outbox);
    return;
  }
  const bool is_exhausted = ticket->Exhaust(lane);
  if (ticket->is_expired || is_exhausted) FinishEmpty(ticket, outbox);
}

// Nothing was leased. Callers that wait go on waiting: the database may come back in time.
void Dispatcher::Failed(LeaseRun& run, const absl::Status& status, Outbox& outbox) {
  Lane& lane = *lanes_.at(run.place);
  lane.Failed(status, std::chrono::steady_clock::now());
  lane.expected = 0;
  for (const TicketPtr& ticket : run.tickets) {
    ticket->state = Ticket::State::kWaiting;
    if (ticket->is_cancelled) {
      FinishEmpty(ticket, outbox);
    } else if (ticket->is_expired || !ticket->waits) {
      Finish(ticket, status, outbox);
    }
  }
}

// Nothing was leased, because another broker leases under the request id of one of the callers. It
// is not known of which one: all that have one look again for what was leased under it, also those
// whose wait is over; the others go on waiting.
void Dispatcher::Collided(LeaseRun& run, Outbox& outbox) {
  lanes_.at(run.place)->Unask(static_cast<int64_t>(run.demand.places.size()));
  for (const TicketPtr& ticket : run.tickets) {
    ticket->state = Ticket::State::kWaiting;
    if (ticket->is_cancelled || (ticket->is_expired && ticket->request_key.empty())) {
      FinishEmpty(ticket, outbox);
    } else if (ticket->request_key.empty()) {
      continue;
    } else if (ticket->successor != nullptr) {
      FinishEmpty(ticket, outbox);  // the repeat looks for itself
    } else if (++ticket->conflicts == kConflictsMax) {
      Finish(ticket, RequestTaken(), outbox);
    } else {
      LeaveLanes(*ticket);
      Find(ticket, outbox);
    }
  }
}

// What an earlier call with this request id got, and still holds, is the answer to this one too.
void Dispatcher::RunFind(const TicketPtr& ticket, absl::StatusOr<pg::Session*> session) {
  LeaseAnswer answer;
  absl::Status status = session.status();
  LeaseRun run;  // of one caller, for its session
  run.tickets.push_back(ticket);
  run.demand.callers.emplace_back();
  absl::flat_hash_set<int64_t> asked;  // the call may name several stages of a queue
  for (const QueuePtr& queue : ticket->queues) {
    for (const int64_t lane : queue->lanes) {
      if (!status.ok()) break;
      if (!asked.insert(lane).second) continue;
      auto found = store::FindRequest(**session, lane, ticket->request_key);
      status = found.status();
      if (!found.ok()) break;
      for (store::LeasedRow& row : *found) {
        row.task.queue = queue->name;
        row.task.stage = queue->settings.StageName(row.task.token.stage);
        answer.tasks.push_back(std::move(row.task));
      }
    }
  }
  if (status.ok() && !answer.tasks.empty() && ticket->call.worker_id.empty()) {
    const auto remaining = store::SessionRemaining(**session, answer.tasks.front().token.session);
    status = remaining.status();
    if (remaining.ok()) answer.lease_remaining = *remaining;
  } else if (status.ok() && !answer.tasks.empty()) {
    status = PrepareSessions(**session, sessions_, run);
    if (status.ok()) answer.lease_remaining = Remaining(run.lives_until.front());
  }
  Outbox outbox;
  base::MutexLock lock(mutex_);
  if (!status.ok()) {
    Finish(ticket, IsOutcomeUnknown(status) ? RepeatLater() : status, outbox);
  } else if (!answer.tasks.empty()) {
    Finish(ticket, std::move(answer), outbox);
  } else if (ticket->is_cancelled || ticket->is_expired || is_draining_) {
    FinishEmpty(ticket, outbox);
  } else {
    Enlist(ticket, outbox);
  }
}

}  // namespace skiplane::broker
