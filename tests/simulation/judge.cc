#include "tests/simulation/judge.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace skiplane::simulation {

using broker::Ticket;

namespace {

Judge::LeaseId IdOf(const model::LeaseToken& token) { return {token.task.id, token.lease_number}; }

// How often each lease is given to a caller, or back.
std::map<Judge::LeaseId, int> TimesGiven(const std::vector<broker::Action>& actions) {
  std::map<Judge::LeaseId, int> times;
  for (const broker::Action& action : actions) {
    if (const auto* answer = std::get_if<broker::Answer>(&action)) {
      if (!answer->answer.ok()) continue;
      for (const model::LeasedTask& task : answer->answer->tasks) ++times[IdOf(task.token)];
    } else if (const auto* orphans = std::get_if<broker::HandBack>(&action)) {
      for (const model::LeaseToken& token : orphans->tokens) ++times[IdOf(token)];
    }
  }
  return times;
}

bool IsLeftForTheRepeat(const broker::TicketPtr& ticket) {
  return ticket->is_cancelled && !ticket->request_key.empty();
}

// Whether a statement is under way from which a caller that holds tasks may get more, or learns
// whether there is more.
bool IsFilledNow(const Ticket& ticket) {
  return std::ranges::any_of(ticket.entries, [](const Ticket::Entry& entry) {
    const bool is_asked = entry.state->leases_running > 0 || entry.state->is_probing;
    return !entry.has_served && is_asked;
  });
}

bool IsAtWork(const broker::LaneStageState& state) {
  if (state.is_probing || state.leases_running > 0) return true;
  return state.alarm != 0 && !state.queue->LeasesPaused();
}

}  // namespace

void Judge::Break(const std::string& invariant) {
  if (verdict_.empty()) verdict_ = invariant;
}

void Judge::Answered(Caller& caller) {
  if (++caller.answers > 1) Break("a call is answered twice");
}

void Judge::End(const std::map<const Ticket*, Caller>& callers) {
  for (const auto& [ticket, caller] : callers) {
    if (caller.answers == 0) Break("a call is not answered");
  }
}

base::SteadyTime Judge::ReadySince(const Task& task, absl::Time now, base::SteadyTime at) const {
  base::SteadyTime since =
      std::max(task.free_since, at - absl::ToChronoNanoseconds(now - task.schedule_time));
  const auto found = resumed_.find(task.lane_stage);
  return found == resumed_.end() ? since : std::max(since, found->second + kHeardWithin);
}

void Judge::Taken(const simulation::Taken& taken, const broker::LeaseRun& run,
                  const std::vector<int64_t>& known, const Knowledge& knowledge, absl::Time now,
                  base::SteadyTime at) {
  const std::vector<int64_t>& ids = taken.ids;
  // At the limit of packs it says that there may be more.
  const bool is_short = ids.size() < run.demand.slots.size() && taken.held_back.empty();
  for (const Task* task : tables_.TasksAt(run.lane_stage)) {
    if (!tables_.IsReady(*task, now)) continue;  // taken ones are locked
    const bool goes_before =
        is_short || (!ids.empty() && task->Key() < tables_.Find(ids.back())->Key());
    if (!goes_before) continue;
    if (std::ranges::binary_search(known, task->id)) {
      Break("a statement skips a task that was known to be ready");
    }
    const base::SteadyTime since =
        std::max(knowledge.healthy_since, ReadySince(*task, now, at));
    if (finds_missed_ && !ids.empty() && at - since > hand_out_within_) {
      Break("tasks are handed out for long while one that goes before them is not");
    }
  }
}

void Judge::HandedOff(const broker::LeaseRun& run, const Knowledge& knowledge, absl::Time now,
                      base::SteadyTime at) {
  std::set<LaneStage> before{run.lane_stage};
  for (const int32_t slot : run.demand.slots) {
    for (const Ticket::Wanted& wanted : run.tickets[static_cast<size_t>(slot - 1)]->wanted) {
      if (wanted.lane_stage == run.lane_stage) break;
      before.insert(wanted.lane_stage);
    }
  }
  for (const auto& [id, known_since] : knowledge.tasks) {
    const Task* const task = tables_.Find(id);
    if (task == nullptr || known_since >= at || !tables_.IsReady(*task, now)) continue;
    if (!before.contains(task->lane_stage) || paused_.contains(task->lane_stage)) continue;
    // One that cannot be asked now does not hold up those behind it, nor one whose tasks others are
    // about to get.
    const auto state = knowledge.states.find(task->lane_stage);
    const bool is_expected = state != knowledge.states.end() && !state->second->HasNothing();
    if (task->lane_stage != run.lane_stage && !is_expected) continue;
    Break("a hand-off passes over a task that was known to be ready");
  }
}

void Judge::Delivered(const broker::LeaseRun& run, const std::vector<model::LeaseToken>& leased,
                      const std::vector<broker::Action>& actions) {
  std::map<LeaseId, int> times = TimesGiven(actions);
  for (const broker::TicketPtr& ticket : run.tickets) {
    std::vector<LeaseId> kept;
    for (const model::LeasedTask& task : ticket->held.tasks) kept.push_back(IdOf(task.token));
    for (const LeaseId& id : kept) ++times[id];
    if (!kept.empty()) kept_[ticket.get()] = std::move(kept);
  }
  const bool may_be_kept = std::ranges::any_of(run.tickets, IsLeftForTheRepeat);
  for (const model::LeaseToken& token : leased) {
    const int given = times[IdOf(token)];
    if (given > 1) Break("a task is handed to two callers");
    if (given == 0 && !may_be_kept) Break("a leased task is handed to nobody");
  }
}

void Judge::Kept(const std::vector<broker::Action>& actions) {
  std::map<LeaseId, int> times = TimesGiven(actions);
  for (const broker::Action& action : actions) {
    const auto* answer = std::get_if<broker::Answer>(&action);
    if (answer == nullptr) continue;
    const auto kept = kept_.find(answer->ticket.get());
    if (kept == kept_.end()) continue;
    // A repeat finds what is still leased.
    const bool is_repeatable = !answer->ticket->request_key.empty();
    for (const LeaseId& id : kept->second) {
      if (times[id] != 1 && !is_repeatable) Break("a task that a caller held is given to nobody");
    }
    kept_.erase(kept);
  }
}

void Judge::AnsweredEmpty(const Caller& caller, const Knowledge& knowledge, absl::Time now,
                          base::SteadyTime at) {
  for (const auto& [id, known_since] : knowledge.tasks) {
    const Task* const task = tables_.Find(id);
    if (task == nullptr || !tables_.IsReady(*task, now)) continue;
    if (paused_.contains(task->lane_stage)) continue;
    if (knowledge.leasing.contains(task->lane_stage)) continue;  // others may be about to get it
    const LaneStage lane_stage = task->lane_stage;
    const bool is_wanted = std::ranges::any_of(
        caller.ticket->wanted, [&](const auto& wanted) { return wanted.lane_stage == lane_stage; });
    const auto state = knowledge.states.find(lane_stage);
    const bool is_expected =
        state != knowledge.states.end() && state->second->belief.count() > 0;
    const base::SteadyTime since = std::max(known_since, ReadySince(*task, now, at));
    if (is_wanted && since < (is_expected ? at : caller.began)) {
      Break(absl::StrCat("a caller that does not wait is answered empty, though a task is known",
                         " in lane ", lane_stage.lane, ", stage ", lane_stage.stage));
    }
  }
}

void Judge::AnsweredNothing(const Caller& caller, base::SteadyTime since) {
  if (caller.ticket->request_key.empty()) return;
  for (const Ticket::Wanted& wanted : caller.ticket->wanted) {
    const std::string id = caller.ticket->RequestIdIn(wanted.lane_stage);
    for (const int64_t task : tables_.FindRequest(wanted.lane_stage.lane, id)) {
      if (tables_.Find(task)->leased_since >= since) continue;
      Break("a caller is told of nothing though something is leased under its request id");
    }
  }
}

void Judge::AnsweredShort(const Caller& caller, const std::vector<model::LeasedTask>& tasks,
                          const Knowledge& knowledge, absl::Time now, base::SteadyTime at) {
  const Ticket& ticket = *caller.ticket;
  if (static_cast<int>(tasks.size()) >= ticket.call.max_tasks) return;
  if (knowledge.healthy_since >= caller.began) return;  // a lane may have failed it
  for (const Ticket::Wanted& wanted : ticket.wanted) {
    const LaneStage lane_stage = wanted.lane_stage;
    const auto state = knowledge.states.find(lane_stage);
    const bool has_given = std::ranges::any_of(tasks, [&](const model::LeasedTask& task) {
      return LaneStage{task.token.task.lane, task.token.stage} == lane_stage;
    });
    if (has_given || caller.left_some.contains(lane_stage)) continue;
    if (state == knowledge.states.end() || !state->second->MayLease()) continue;
    if (paused_.contains(lane_stage) || knowledge.leasing.contains(lane_stage)) continue;
    if (!ticket.most_of.empty() && ticket.most_of[wanted.source] <= 0) continue;
    for (const Task* task : tables_.TasksAt(lane_stage)) {
      const auto known = knowledge.tasks.find(task->id);
      if (known == knowledge.tasks.end() || !tables_.IsReady(*task, now)) continue;
      const base::SteadyTime since = std::max(known->second, ReadySince(*task, now, at));
      if (since < caller.began) {
        Break("a caller gets less than it asked for, though a task is known");
      }
    }
  }
}

Judge::Times Judge::OldestFor(const Knowledge& knowledge, absl::Time now,
                              base::SteadyTime at) const {
  Times oldest;
  for (const auto& [id, task] : tables_.tasks()) {
    if (!tables_.IsReady(task, now) || paused_.contains(task.lane_stage)) continue;
    base::SteadyTime since = ReadySince(task, now, at);
    if (!finds_missed_) {
      const auto known = knowledge.tasks.find(id);
      if (known == knowledge.tasks.end()) continue;
      since = std::max(since, known->second);
    }
    const auto [entry, is_new] = oldest.try_emplace(task.lane_stage, since);
    entry->second = std::min(entry->second, since);
  }
  return oldest;
}

void Judge::Waiting(const std::vector<Caller*>& waiting, const std::vector<Knowledge>& brokers,
                    absl::Time now, base::SteadyTime at) {
  std::vector<Times> oldest_of;
  for (const Knowledge& broker : brokers) oldest_of.push_back(OldestFor(broker, now, at));
  for (const Caller* caller : waiting) {
    const auto broker = static_cast<size_t>(caller->broker);
    const base::SteadyTime healthy = brokers[broker].healthy_since;
    const Times& oldest = oldest_of[broker];
    for (const Ticket::Wanted& wanted : caller->ticket->wanted) {
      const auto found = oldest.find(wanted.lane_stage);
      if (found == oldest.end()) continue;
      if (at - std::max({healthy, caller->began, found->second}) > hand_out_within_) {
        Break(absl::StrCat("a task and a caller wait for each other in lane ",
                           wanted.lane_stage.lane, ", stage ", wanted.lane_stage.stage));
      }
    }
  }
}

void Judge::UnderWay(const std::vector<Caller*>& waiting, int broker, const Knowledge& knowledge,
                     absl::Time now) {
  const auto is_ready = [&](const Task* task) { return tables_.IsReady(*task, now); };
  for (const Caller* caller : waiting) {
    if (caller->broker != broker || !caller->IsInLanes()) continue;
    if (caller->ticket->IsFilling()) {
      if (!IsFilledNow(*caller->ticket)) Break("a caller that holds tasks waits for nothing");
      continue;
    }
    for (const Ticket::Entry& entry : caller->ticket->entries) {
      const broker::LaneStageState& state = *entry.state;
      if (IsAtWork(state) || knowledge.reserved.contains(state.lane_stage)) break;
      if (state.queue->LeasesPaused() || paused_.contains(state.lane_stage)) continue;
      if (std::ranges::any_of(tables_.TasksAt(state.lane_stage), is_ready)) {
        Break("a task and a caller wait, and nothing is under way");
      }
    }
  }
}

}  // namespace skiplane::simulation
