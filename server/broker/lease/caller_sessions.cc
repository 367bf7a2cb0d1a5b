#include "server/broker/lease/caller_sessions.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"
#include "server/base/status_macros.h"
#include "server/broker/sessions/touch_of.h"
#include "server/pg/conflicts.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

store::Touch TouchFor(const Ticket& ticket) {
  return TouchOf(ticket.call, ticket.lease_duration, SessionAhead(ticket.lease_duration));
}

// What must be touched: each worker once, with the longest duration that its calls ask for.
struct Touches {
  std::map<std::string, store::Touch> workers;
  std::vector<store::Touch> anonymous;

  void AddWorker(const Ticket& ticket) {
    const store::Touch wanted = TouchFor(ticket);
    const auto [touch, is_new] = workers.try_emplace(wanted.worker_id, wanted);
    if (is_new) return;
    touch->second.duration = std::max(touch->second.duration, wanted.duration);
    touch->second.age = std::min(touch->second.age, wanted.age);
  }

  std::vector<store::Touch> All() const {
    std::vector<store::Touch> all;
    for (const auto& [worker, touch] : workers) all.push_back(touch);
    all.insert(all.end(), anonymous.begin(), anonymous.end());
    return all;
  }
};

void LogRenewed(const Touches& touches) {
  static constinit base::SampledEvent event("sessions_renewed");
  if (!event.Wanted()) return;
  event.Write({{"of_workers", absl::StrCat(touches.workers.size())},
               {"of_calls_without_worker", absl::StrCat(touches.anonymous.size())}});
}

// Whether any known worker of the run must be renewed: then those that must soon are renewed with
// it, by the same statement, instead of each by one of its own.
bool AnyIsStale(const SessionCache& cache, const LeaseRun& run) {
  return std::any_of(run.tickets.begin(), run.tickets.end(), [&cache](const TicketPtr& ticket) {
    return !ticket->call.worker_id.empty() && ticket->call.moves_session &&
           !cache.FindLiving(ticket->call.worker_id, ticket->lease_duration).has_value();
  });
}

// Of those whose sessions are not to be moved: only what lives is leased for. The others are dealt
// nothing, and are in `run.gone`.
absl::Status FindUnmoved(pg::Session& session, SessionCache& cache, LeaseRun& run) {
  std::map<std::string, std::vector<size_t>> asked;
  for (size_t i = 0; i < run.tickets.size(); ++i) {
    const LeaseCall& call = run.tickets[i]->call;
    if (call.moves_session) continue;
    if (const auto known = cache.FindFresh(call.worker_id)) {
      run.demand.callers[i].session = known->id;
      run.lives_until[i] = known->lives_until;
    } else {
      asked[call.worker_id].push_back(i);
    }
  }
  if (asked.empty()) return absl::OkStatus();
  std::vector<std::string> workers;
  for (const auto& [worker, callers] : asked) workers.push_back(worker);
  const base::SteadyTime sent = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const auto living, store::FindSessions(session, workers));
  for (const store::LivingSession& alive : living) {
    cache.Learn(alive.worker_id, alive.id, sent, alive.remaining, alive.command);
    for (const size_t i : asked[alive.worker_id]) {
      run.demand.callers[i].session = alive.id;
      run.lives_until[i] = sent + absl::ToChronoNanoseconds(alive.remaining);
    }
    asked.erase(alive.worker_id);
  }
  for (const auto& [worker, callers] : asked) {
    cache.Forget(worker);
    for (const size_t i : callers) {
      run.gone.push_back(run.tickets[i]);
      std::ranges::replace(run.demand.slots, static_cast<int32_t>(i) + 1, 0);
    }
  }
  return absl::OkStatus();
}

}  // namespace

void GiveLedgers(LeaseRun& run) {
  const pg::Uuid shared = model::NewSessionId();
  for (store::LeaseCaller& caller : run.demand.callers) {
    caller.ledger = caller.request_id.empty() ? shared : model::NewSessionId();
  }
}

absl::Status PrepareSessions(pg::Session& session, SessionCache& cache, LeaseRun& run) {
  GiveLedgers(run);
  RETURN_IF_ERROR(FindUnmoved(session, cache, run));
  const bool renews = AnyIsStale(cache, run);
  Touches touches;
  std::map<std::string, std::vector<size_t>> callers;  // by worker, or by the new session's bytes
  for (size_t i = 0; i < run.tickets.size(); ++i) {
    const Ticket& ticket = *run.tickets[i];
    const std::string& worker = ticket.call.worker_id;
    if (!ticket.call.moves_session) continue;
    if (worker.empty()) {
      touches.anonymous.push_back(TouchFor(ticket));
      run.demand.callers[i].session = touches.anonymous.back().new_id;
      continue;
    }
    const absl::Duration duration = ticket.lease_duration;
    const absl::Duration needed = renews ? duration + SessionAhead(duration) / 2 : duration;
    if (const auto known = cache.FindLiving(worker, needed)) {
      run.demand.callers[i].session = known->id;
      run.lives_until[i] = known->lives_until;
      continue;
    }
    callers[worker].push_back(i);
    touches.AddWorker(ticket);
  }
  const std::vector<store::Touch> all = touches.All();
  if (all.empty()) return absl::OkStatus();
  LogRenewed(touches);
  const base::SteadyTime sent = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const auto living,
                   pg::RepeatConflicts([&] { return store::TouchSessions(session, all); }));
  std::map<model::SessionId, base::SteadyTime> anonymous;
  for (const store::LivingSession& alive : living) {
    const base::SteadyTime lives_until = sent + absl::ToChronoNanoseconds(alive.remaining);
    if (alive.worker_id.empty()) anonymous[alive.id] = lives_until;
    for (const size_t i : callers[alive.worker_id]) {
      run.demand.callers[i].session = alive.id;
      run.lives_until[i] = lives_until;
    }
    if (alive.worker_id.empty() || alive.has_ended) continue;
    cache.Learn(alive.worker_id, alive.id, sent, alive.remaining, alive.command);
  }
  for (size_t i = 0; i < run.tickets.size(); ++i) {
    const auto found = anonymous.find(run.demand.callers[i].session);
    if (found != anonymous.end()) run.lives_until[i] = found->second;
  }
  return absl::OkStatus();
}

}  // namespace skiplane::broker
