#include "server/broker/schedule/statement.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace skiplane::broker {

int64_t ContentBytes(const model::LeasedTask& task) {
  size_t bytes = task.payload.size();
  for (const auto& [name, value] : task.headers) bytes += name.size() + value.size();
  if (const auto& error = task.last_error) {
    bytes += error->type.size() + error->text.size() + error->fingerprint.size();
  }
  if (task.last_progress.has_value()) bytes += task.last_progress->message.size();
  return static_cast<int64_t>(bytes);
}

void NameQueue(const model::Queue& queue, model::LeasedTask& task) {
  task.queue = queue.name;
  task.stage = queue.settings.StageName(task.token.stage);
}

std::vector<int32_t> SlotsOf(const Dealt& dealt) {
  std::vector<int32_t> slots;
  const int64_t count = std::accumulate(dealt.counts.begin(), dealt.counts.end(), int64_t{0});
  if (static_cast<int64_t>(dealt.turns.size()) == count) {
    for (const Turn& turn : dealt.turns) slots.push_back(turn.caller + 1);
    return slots;
  }
  // In a row, a caller's slots would be left as they are once its bytes are used up.
  std::vector<int64_t> open = dealt.counts;
  while (static_cast<int64_t>(slots.size()) < count) {
    for (size_t caller = 0; caller < open.size(); ++caller) {
      if (open[caller] == 0) continue;
      --open[caller];
      slots.push_back(static_cast<int32_t>(caller) + 1);
    }
  }
  return slots;
}

bool MayHaveLeftSome(const LeaseRun& run, const store::Leased& leased) {
  // If it leased nothing, others hold them: a probe tells when they do no more, and not at once.
  if (!leased.held_back.empty() && !leased.rows.empty()) return true;
  std::vector<int64_t> bytes(run.demand.callers.size());
  int64_t total = 0;
  for (const store::LeasedRow& row : leased.rows) {
    const int64_t size = ContentBytes(row.task);
    bytes[static_cast<size_t>(row.caller)] += size;
    total += size;
  }
  if (2 * total >= run.demand.bytes_max) return true;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const store::LeaseCaller& caller = run.demand.callers[i];
    if (2 * bytes[i] >= caller.max_bytes || (caller.holds_tasks && bytes[i] == 0)) return true;
  }
  return false;
}

void LeaveBounds(const store::LeaseDemand& demand, store::Leased& leased) {
  if (!demand.has_packs) return;
  leased.saw_packs = true;
  leased.held_back = demand.bounds;
  for (store::Bound& first : leased.held_back) ++first.id;
}

std::vector<int64_t> CountPerCaller(const LeaseRun& run,
                                    const absl::StatusOr<store::Leased>& leased) {
  std::vector<int64_t> counts(run.tickets.size());
  if (!leased.ok()) return counts;
  for (const store::LeasedRow& row : leased->rows) ++counts[static_cast<size_t>(row.caller)];
  return counts;
}

bool MayBeTaken(const LeaseRun& run, const Ticket& ticket) {
  if (ticket.request_key.empty()) return false;
  if (!run.taken_ids.has_value()) return true;
  const std::string id = ticket.RequestIdIn(run.lane_stage);
  return std::ranges::find(*run.taken_ids, id) != run.taken_ids->end();
}

std::vector<store::Bound> LastKeys(const LeaseRun& run,
                                   const std::vector<store::LeasedRow>& rows) {
  std::map<int16_t, store::Bound> last;
  for (size_t i = 0; i < rows.size(); ++i) {  // in the order of leases
    const bool is_in_turn = rows[i].caller + 1 == run.demand.slots[i];
    if (!run.demand.has_packs && !is_in_turn) break;  // the one whose turn it was has no room
    const model::LeasedTask& task = rows[i].task;
    const model::LeaseToken& token = task.token;
    last[task.priority] = {task.priority, task.schedule_time, token.task.id};
  }
  std::vector<store::Bound> keys;
  for (const auto& [priority, key] : last) keys.push_back(key);
  return keys;
}

void AskForOneMore(LeaseRun& run) {
  std::vector<int64_t> taken(run.tickets.size());
  for (const int32_t slot : run.demand.slots) ++taken[static_cast<size_t>(slot) - 1];
  const size_t callers = run.tickets.size();
  const auto next = static_cast<size_t>(run.demand.slots.back());  // whose turn comes then
  for (size_t passed = 0; passed < callers; ++passed) {
    const size_t i = (next + passed) % callers;
    const Ticket& ticket = *run.tickets[i];
    if (ticket.IsFilling() || taken[i] == ticket.RoomIn(run.lane_stage)) continue;
    run.demand.slots.push_back(static_cast<int32_t>(i) + 1);
    run.asks_for_more = true;
    return;
  }
}

bool TookAll(const LeaseRun& run, const store::Leased& leased, int64_t hints) {
  const bool is_nobodys = std::ranges::find(run.demand.slots, 0) != run.demand.slots.end();
  return leased.rows.size() < run.demand.slots.size() && leased.held_back.empty() &&
         !MayHaveLeftSome(run, leased) && !is_nobodys && hints == run.hints_before;
}

}  // namespace skiplane::broker
