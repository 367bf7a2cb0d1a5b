#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "server/broker/api/refusals.h"
#include "server/broker/lease/caller_sessions.h"
#include "server/broker/lease/dispatcher.h"

namespace skiplane::broker {
namespace {

// Of more tasks the commits cost little each, and calls that wait for a large enqueue would make
// the lease statements beside it smaller.
constexpr size_t kTasksMost = 32;

int64_t ContentBytes(const model::NewTask& task) {
  size_t bytes = task.payload.size();
  for (const auto& [name, value] : task.headers) bytes += name.size() + value.size();
  return static_cast<int64_t>(bytes);
}

// Per lane the tasks that are ready once they are made, in the order of leases. Not where one has a
// schedule time, which may have passed: that one goes before others of its priority.
std::map<int64_t, std::vector<size_t>> ReadyTasks(absl::Span<const store::TaskRow> tasks) {
  std::map<int64_t, std::vector<size_t>> lanes;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].IsImmediate()) lanes[tasks[i].id.lane].push_back(i);
  }
  for (const store::TaskRow& row : tasks) {
    if (row.task->schedule_time.has_value()) lanes.erase(row.id.lane);
  }
  for (auto& [lane, places] : lanes) {
    std::ranges::stable_sort(places, {},
                             [&tasks](size_t place) { return tasks[place].task->priority; });
  }
  return lanes;
}

// Fills in the sessions that are known.
void FindSessions(const SessionCache& sessions, LeaseRun& run) {
  for (size_t i = 0; i < run.tickets.size(); ++i) {
    const Ticket& ticket = *run.tickets[i];
    if (ticket.call.worker_id.empty()) continue;
    const std::optional<SessionCache::Entry> known =
        ticket.call.moves_session
            ? sessions.FindLiving(ticket.call.worker_id, ticket.lease_duration)
            : sessions.Find(ticket.call.worker_id);
    if (!known.has_value()) continue;
    run.demand.callers[i].session = known->id;
    run.lives_until[i] = known->lives_until;
  }
}

// A call that has no known session or no room for the next task is served by a statement of its
// own, and so is everything behind it: the order is the same. False: that is all.
bool TakeTasks(absl::Span<const store::TaskRow> tasks, const std::vector<size_t>& places,
               LeaseRun& run, store::HandOff& leases) {
  const auto base = static_cast<int32_t>(leases.callers.size());
  std::vector<int64_t> bytes(run.tickets.size());
  std::vector<int32_t>& slots = run.demand.slots;
  size_t taken = 0;
  for (; taken < slots.size(); ++taken) {
    const auto number = static_cast<size_t>(slots[taken] - 1);
    const store::LeaseCaller& caller = run.demand.callers[number];
    const int64_t size = ContentBytes(*tasks[places[taken]].task);
    const bool is_first = bytes[number] == 0;
    if (caller.session == model::SessionId()) break;
    if (!is_first && bytes[number] + size > caller.max_bytes) break;
    bytes[number] += std::max<int64_t>(size, 1);
    leases.takers[places[taken]] = base + slots[taken];
  }
  if (taken == 0) return false;
  slots.resize(taken);
  GiveLedgers(run);
  leases.callers.insert(leases.callers.end(), run.demand.callers.begin(),
                        run.demand.callers.end());
  return true;
}

}  // namespace

HandOff Dispatcher::BeginHandOff(absl::Span<const store::TaskRow> tasks) {
  HandOff hand_off;
  if (tasks.size() > kTasksMost) return hand_off;
  const std::map<int64_t, std::vector<size_t>> lanes = ReadyTasks(tasks);
  if (lanes.empty()) return hand_off;
  std::map<int64_t, LeaseRun> runs;
  {
    Event event(*this);
    for (const auto& [lane, places] : lanes) {
      const auto count = static_cast<int64_t>(places.size());
      LeaseRun run = scheduler_.HandOff({lane, 0}, count, event.step);
      if (!run.tickets.empty()) runs[lane] = std::move(run);
    }
  }
  std::vector<LeaseRun> refused;
  hand_off.leases.takers.resize(tasks.size());
  for (auto& [lane, run] : runs) {
    FindSessions(sessions_, run);
    const bool has_tasks = TakeTasks(tasks, lanes.at(lane), run, hand_off.leases);
    (has_tasks ? hand_off.runs : refused).push_back(std::move(run));
  }
  if (!refused.empty()) {
    Event event(*this);
    for (LeaseRun& run : refused) scheduler_.EndLease(run, store::Leased(), event.step);
  }
  return hand_off;
}

void Dispatcher::EndHandOff(pg::Session& session, HandOff& hand_off,
                            absl::StatusOr<std::vector<store::LeasedRow>> leased) {
  const bool has_collided = absl::IsAlreadyExists(leased.status());
  if (has_collided || IsOutcomeUnknown(leased.status())) {
    for (LeaseRun& run : hand_off.runs) {
      if (has_collided) NoteTakenIds(session, run);
      FinishRun(run, leased.status());
    }
    return;
  }
  if (!leased.ok()) leased.emplace();  // nothing was made
  int first = 0;                       // of the callers of a run
  for (LeaseRun& run : hand_off.runs) {
    const int end = first + static_cast<int>(run.tickets.size());
    store::Leased its;
    for (store::LeasedRow& row : *leased) {
      if (row.caller < first || row.caller >= end) continue;
      its.now = row.task.schedule_time;
      its.rows.push_back(std::move(row));
      its.rows.back().caller -= first;
    }
    FinishRun(run, std::move(its));
    first = end;
  }
}

}  // namespace skiplane::broker
