// The invariants of who is served when.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/model/limits.h"
#include "tests/simulation/judge.h"

namespace skiplane::simulation {
namespace {

using broker::LeaseRun;
using broker::Ticket;

std::string PrincipalOf(const Ticket& ticket) { return ticket.call.principal; }

// Calls that name none are one worker of their principal.
std::string WorkerOf(const Ticket& ticket) {
  return absl::StrCat(ticket.call.principal, " ", ticket.call.worker_id);
}

bool WantTheSame(const Ticket& a, const Ticket& b) {
  return std::ranges::equal(a.wanted, b.wanted, [](const auto& one, const auto& other) {
    return one.lane_stage == other.lane_stage;
  });
}

// Whether a statement there may serve it as well as those that it serves.
bool Competes(const Ticket& ticket, const LeaseRun& run) {
  if (ticket.IsFilling()) return false;
  if (ticket.wanted.front().lane_stage == run.lane_stage) return true;
  return std::ranges::any_of(run.tickets, [&](const broker::TicketPtr& served) {
    return !served->IsFilling() && WantTheSame(ticket, *served);
  });
}

// How many tasks, or with a large backlog how many turns, each kind of callers is dealt.
struct Dealt {
  explicit Dealt(const LeaseRun& run) {
    // The slot for one task more than is believed to be there is nobody's turn.
    std::vector<int32_t> slots = run.demand.slots;
    if (run.asks_for_more) slots.pop_back();
    const bool has_plenty = slots.size() == model::kBatchRowsMax;
    if (has_plenty) {
      for (const broker::TicketPtr& ticket : run.tickets) Add(*ticket);
    } else {
      for (const int32_t slot : slots) Add(*run.tickets[static_cast<size_t>(slot - 1)]);
    }
    for (const int32_t slot : slots) {
      ++tasks[run.tickets[static_cast<size_t>(slot - 1)].get()];
    }
  }
  void Add(const Ticket& ticket) {
    ++principals[PrincipalOf(ticket)];
    ++workers[WorkerOf(ticket)];
    ++calls[&ticket];
  }

  std::map<std::string, int64_t> principals;
  std::map<std::string, int64_t> workers;
  std::map<const Ticket*, int64_t> calls;
  std::map<const Ticket*, int64_t> tasks;
};

template <typename Key>
int64_t NumberAt(const std::map<Key, int64_t>& numbers, const Key& key) {
  const auto found = numbers.find(key);
  return found == numbers.end() ? 0 : found->second;
}

}  // namespace

void Judge::Dealt(const LeaseRun& run, int broker, const std::vector<Caller*>& waiting) {
  const struct Dealt dealt(run);
  for (const Caller* caller : waiting) {
    const Ticket& ticket = *caller->ticket;
    const bool is_served = dealt.tasks.contains(&ticket);
    if (caller->broker != broker || (!is_served && !caller->IsInLanes())) continue;
    if (!Competes(ticket, run)) continue;
    const int64_t tasks = NumberAt(dealt.tasks, &ticket);
    if (tasks >= ticket.RoomIn(run.lane_stage)) continue;
    const int64_t of_principal = NumberAt(dealt.principals, PrincipalOf(ticket));
    const int64_t of_worker = NumberAt(dealt.workers, WorkerOf(ticket));
    for (const broker::TicketPtr& served : run.tickets) {
      if (NumberAt(dealt.principals, PrincipalOf(*served)) > of_principal + 1) {
        Break("a principal is dealt more than another one that wants more");
      }
      if (PrincipalOf(*served) != PrincipalOf(ticket)) continue;
      if (NumberAt(dealt.workers, WorkerOf(*served)) > of_worker + 1) {
        Break("a worker is dealt more than another one of its principal that wants more");
      }
      if (WorkerOf(*served) != WorkerOf(ticket)) continue;
      if (NumberAt(dealt.calls, static_cast<const Ticket*>(served.get())) >
          NumberAt(dealt.calls, &ticket) + 1) {
        Break("a call is dealt more than another one of its worker that wants more");
      }
    }
  }
}

void Judge::First(const LeaseRun& run, int broker, bool is_alone,
                  const std::vector<Caller*>& waiting, base::SteadyTime at) {
  LastServed& last = last_served_[{broker, run.lane_stage}];
  last.is_known &= is_alone;
  last.dealt = at;
  if (!last.is_known) return;
  const Ticket& first = *run.tickets[static_cast<size_t>(run.demand.slots.front() - 1)];
  const auto served_at = [&last](const std::string& name) {
    const auto found = last.at.find(name);
    return found == last.at.end() ? base::SteadyTime() : found->second;
  };
  for (const Caller* caller : waiting) {
    const Ticket& ticket = *caller->ticket;
    if (caller->broker != broker || !caller->IsInLanes() || !Competes(ticket, run)) continue;
    const bool is_same = PrincipalOf(first) == PrincipalOf(ticket);
    const std::string its = is_same ? WorkerOf(ticket) : PrincipalOf(ticket);
    const std::string other = is_same ? WorkerOf(first) : PrincipalOf(first);
    if (served_at(other) > std::max(caller->enlisted, served_at(its))) {
      Break(absl::StrCat("the first turn is of ", other, ", though ", its, " waits longer"));
    }
  }
}

void Judge::Served(const LeaseRun& run, const std::set<const Ticket*>& got, int broker,
                   const std::map<const Ticket*, Caller>& callers,
                   const std::vector<Caller*>& waiting) {
  std::set<std::string> principals;
  std::set<std::string> workers;
  for (const Ticket* ticket : got) {
    principals.insert(PrincipalOf(*ticket));
    workers.insert(WorkerOf(*ticket));
  }
  LastServed& last = last_served_[{broker, run.lane_stage}];
  for (const std::string& name : principals) last.at[name] = last.dealt;
  for (const std::string& name : workers) last.at[name] = last.dealt;
  const std::string where = absl::StrCat(run.lane_stage.lane, "/", run.lane_stage.stage);
  for (Caller* caller : waiting) {
    const Ticket& ticket = *caller->ticket;
    if (caller->broker != broker || !caller->IsInLanes() || !Competes(ticket, run)) continue;
    std::set<std::string> passing;
    const bool is_its_principals = principals.contains(PrincipalOf(ticket));
    const bool is_its_workers = workers.contains(WorkerOf(ticket));
    std::erase_if(caller->passed, [&](const auto& entry) {
      return (is_its_principals && entry.first.starts_with(where + " principal ")) ||
             (is_its_workers && entry.first.starts_with(where + " worker "));
    });
    for (const Ticket* served : got) {
      if (PrincipalOf(*served) != PrincipalOf(ticket)) {
        if (!is_its_principals) passing.insert(where + " principal " + PrincipalOf(*served));
      } else if (WorkerOf(*served) != WorkerOf(ticket)) {
        if (!is_its_workers) passing.insert(where + " worker " + WorkerOf(*served));
      } else if (callers.at(served).turn > caller->turn && WantTheSame(*served, ticket)) {
        passing.insert(where + " call");
      }
    }
    for (const std::string& who : passing) {
      if (++caller->passed[who] > kPassedMax) {
        Break(absl::StrCat("a caller is passed again and again, at ", who));
      }
    }
  }
}

}  // namespace skiplane::simulation
