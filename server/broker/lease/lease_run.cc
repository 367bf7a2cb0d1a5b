#include "server/broker/lease/lease_run.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"
#include "server/base/status_macros.h"
#include "server/pg/conflicts.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

// What must be touched: each worker once, with the longest duration that its calls ask for.
struct Touches {
  std::map<std::string, store::Touch> workers;
  std::vector<store::Touch> anonymous;

  std::vector<store::Touch> All() const {
    std::vector<store::Touch> all;
    for (const auto& [worker, touch] : workers) all.push_back(touch);
    all.insert(all.end(), anonymous.begin(), anonymous.end());
    return all;
  }
};

store::Touch TouchFor(const Ticket& ticket) {
  store::Touch touch;
  touch.worker_id = ticket.call.worker_id;
  touch.worker_name = ticket.call.worker_name;
  touch.new_id = model::NewSessionId();
  touch.duration = ticket.lease_duration;
  touch.ahead = SessionAhead(ticket.lease_duration);
  touch.age = absl::FromChrono(std::chrono::steady_clock::now() - ticket.call.began);
  return touch;
}

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
    return !ticket->call.worker_id.empty() &&
           !cache.FindLiving(ticket->call.worker_id, ticket->lease_duration).has_value();
  });
}

}  // namespace

std::vector<int32_t> DealPlaces(const std::vector<int64_t>& demands, int64_t count) {
  std::vector<int32_t> places;
  std::vector<int64_t> open = demands;
  bool dealt = true;
  while (dealt && static_cast<int64_t>(places.size()) < count) {
    dealt = false;
    for (size_t caller = 0; caller < open.size(); ++caller) {
      if (open[caller] == 0) continue;
      if (static_cast<int64_t>(places.size()) == count) break;
      --open[caller];
      places.push_back(static_cast<int32_t>(caller) + 1);
      dealt = true;
    }
  }
  return places;
}

absl::Status PrepareSessions(pg::Session& session, SessionCache& cache, LeaseRun& run) {
  const bool renews = AnyIsStale(cache, run);
  Touches touches;
  std::map<std::string, std::vector<size_t>> callers;  // by worker, or by the new session's bytes
  run.lives_until.resize(run.tickets.size());
  for (size_t i = 0; i < run.tickets.size(); ++i) {
    const Ticket& ticket = *run.tickets[i];
    const std::string& worker = ticket.call.worker_id;
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
    const auto [touch, is_new] = touches.workers.try_emplace(worker, TouchFor(ticket));
    if (is_new) continue;
    const store::Touch other = TouchFor(ticket);
    touch->second.duration = std::max(touch->second.duration, other.duration);
    touch->second.age = std::min(touch->second.age, other.age);
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
    cache.Learn(alive.worker_id, alive.id, sent, alive.remaining);
  }
  for (size_t i = 0; i < run.tickets.size(); ++i) {
    const auto found = anonymous.find(run.demand.callers[i].session);
    if (found != anonymous.end()) run.lives_until[i] = found->second;
  }
  return absl::OkStatus();
}

bool IsCutByBytes(const LeaseRun& run, const store::Leased& leased) {
  std::vector<int64_t> bytes(run.demand.callers.size());
  int64_t total = 0;
  for (const store::LeasedRow& row : leased.rows) {
    const auto size = static_cast<int64_t>(row.task.payload.size());
    bytes[static_cast<size_t>(row.caller)] += size;
    total += size;
  }
  if (2 * total >= run.demand.bytes_max) return true;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (2 * bytes[i] >= run.demand.callers[i].max_bytes) return true;
  }
  return false;
}

std::vector<store::Bound> LastKeys(const std::vector<store::LeasedRow>& rows) {
  std::map<int16_t, store::Bound> last;
  for (const store::LeasedRow& row : rows) {  // in the order of leases
    const model::LeasedTask& task = row.task;
    last[task.priority] = {task.priority, task.schedule_time, task.token.task.id};
  }
  std::vector<store::Bound> keys;
  for (const auto& [priority, key] : last) keys.push_back(key);
  return keys;
}

}  // namespace skiplane::broker
