#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/broker/api/refusals.h"
#include "tests/simulation/world.h"

namespace skiplane::simulation {
namespace {

using broker::Step;
using broker::Ticket;
using broker::TicketPtr;

// Who gets the first, second, … of so many tasks, from 1 on.
std::vector<int32_t> TakersOf(const broker::LeaseRun& run, size_t count) {
  std::vector<int32_t> takers(run.demand.slots.begin(),
                              run.demand.slots.begin() + static_cast<int64_t>(count));
  if (run.demand.has_packs) std::ranges::sort(takers);  // each gets neighbours
  return takers;
}

absl::Status Away() { return absl::UnavailableError("no connection"); }

}  // namespace

std::vector<broker::Action> World::Do(int broker, SchedulerEvent event) {
  Broker& its = brokers_[static_cast<size_t>(broker)];
  Step step{now_};
  if (its.is_memory_full) Unhealthy(broker);
  its.scheduler->SetFullMemory({its.is_memory_full});
  event(*its.scheduler, step);
  const Knowledge& knowledge = known_[static_cast<size_t>(broker)];
  judge_.Kept(step.actions);
  if (!its.is_memory_full) judge_.UnderWay(waiting_, broker, knowledge, DatabaseNow());
  return std::move(step.actions);
}

void World::TraceActions(int broker, const std::vector<broker::Action>& actions) {
  for (const broker::Action& action : actions) {
    if (const auto* lease = std::get_if<broker::SendLease>(&action)) {
      Trace(broker, "wants a lease in lane ", lease->lane_stage.lane, ", stage ",
            lease->lane_stage.stage);
    } else if (const auto* probe = std::get_if<broker::SendProbe>(&action)) {
      Trace(broker, "wants a probe of lane ", probe->lane_stage.lane, ", stage ",
            probe->lane_stage.stage);
    } else if (const auto* answer = std::get_if<broker::Answer>(&action)) {
      Trace(broker, "answers caller ", NumberOf(answer->ticket), " with ",
            answer->answer.ok() ? absl::StrCat(answer->answer->tasks.size(), " tasks")
                                : std::string(answer->answer.status().message()));
    } else if (const auto* decline = std::get_if<broker::Decline>(&action)) {
      Trace(broker, "declines caller ", NumberOf(decline->ticket));
    }
  }
}

void World::Perform(int broker, std::vector<broker::Action> actions) {
  if (trace_ != nullptr) TraceActions(broker, actions);
  for (broker::Action& action : actions) {
    if (const auto* lease = std::get_if<broker::SendLease>(&action)) {
      After(Latency(), [this, broker, send = *lease] { RunLease(broker, send.lane_stage); });
    } else if (const auto* probe = std::get_if<broker::SendProbe>(&action)) {
      After(Latency(), [this, broker, send = *probe] { RunProbe(broker, send.lane_stage); });
    } else if (const auto* find = std::get_if<broker::SendFind>(&action)) {
      const Span gathers(find->is_urgent ? 0 : Pick(0, kGathersFinds));
      After(Latency() + gathers,
            [this, broker, ticket = find->ticket] { RunFind(broker, ticket); });
    } else if (auto* answer = std::get_if<broker::Answer>(&action)) {
      Answered(broker, *answer);
    } else if (const auto* decline = std::get_if<broker::Decline>(&action)) {
      Caller& caller = callers_.at(decline->ticket.get());
      judge_.Answered(caller);
      auto again = std::make_shared<Ticket>();
      again->call = CallOf(*decline->ticket);
      again->waits = decline->ticket->waits;
      again->deadline = decline->ticket->deadline;
      again->wanted = decline->ticket->wanted;
      again->most_of = decline->ticket->most_of;
      After(Latency(), [this, broker, again] { Admit(broker, again); });
    } else if (const auto* orphans = std::get_if<broker::HandBack>(&action)) {
      for (const model::LeaseToken& token : orphans->tokens) {
        After(Latency(), [this, broker, token] {
          Free(broker, token.task.id, token.lease_number, {});
        });
      }
    }
  }
}

void World::Answered(int broker, broker::Answer& answer) {
  Caller& caller = callers_.at(answer.ticket.get());
  judge_.Answered(caller);
  std::erase(waiting_, &caller);
  if (!answer.answer.ok()) return;
  if (!answer.answer->tasks.empty()) {
    const Broker& its = brokers_[static_cast<size_t>(broker)];
    const bool has_ended = answer.ticket->waits && answer.ticket->deadline <= now_;
    const bool may_fill = !its.is_memory_full && !its.is_drained && !has_ended;
    if (may_fill && answer.ticket->request_key.empty()) {
      judge_.AnsweredShort(caller, answer.answer->tasks, known_[static_cast<size_t>(broker)],
                           DatabaseNow(), now_);
    }
    bool is_first = true;  // with its ack the next lease is asked for
    for (const model::LeasedTask& task : answer.answer->tasks) {
      ++handed_out_;
      Work(broker, *answer.ticket, task, std::exchange(is_first, false));
    }
    return;
  }
  if (!caller.is_gone && !caller.is_repeated) {
    judge_.AnsweredNothing(caller, now_ - Span(3 * history_.slowest + kGathersFinds));
  }
  // A repeat takes its first call's place: nobody waits for that one any more.
  const bool may_be_gone = caller.is_gone || !answer.ticket->request_key.empty();
  const bool was_interested = !answer.ticket->waits && !may_be_gone;
  if (was_interested && !brokers_[static_cast<size_t>(broker)].is_drained) {
    judge_.AnsweredEmpty(caller, known_[static_cast<size_t>(broker)], DatabaseNow(), now_);
  }
}

void World::RunLease(int broker, LaneStage lane_stage) {
  auto run = std::make_shared<broker::LeaseRun>();
  Perform(broker, Do(broker, [&](auto& s, Step& step) { *run = s.BeginLease(lane_stage, step); }));
  if (run->tickets.empty()) return;
  judge_.Dealt(*run, broker, waiting_);
  const Knowledge& knowledge = known_[static_cast<size_t>(broker)];
  const bool is_alone = knowledge.states.at(lane_stage)->leases_running == 1 &&
                        !knowledge.handing.contains(lane_stage);
  judge_.First(*run, broker, is_alone, waiting_, now_);
  Execute(broker, run, {});
}

// Whether something is leased under the request id of one of its callers; which one is not always
// told.
bool World::IsTaken(broker::LeaseRun& run) {
  std::vector<std::string> taken;
  for (const store::LeaseCaller& caller : run.demand.callers) {
    const std::string& id = caller.request_id;
    if (!id.empty() && !tables_.FindRequest(run.demand.lane, id).empty()) taken.push_back(id);
  }
  const bool is_taken = !taken.empty();
  if (is_taken && !Chance(history_.failing)) run.taken_ids = std::move(taken);
  return is_taken;
}

// Sends the statement. `ended`, if any, hears whether the transaction was committed that it is part
// of: then it may be rolled back by others.
void World::Execute(int broker, const Run& run, const std::function<void(bool)>& ended) {
  Knowledge& knowledge = known_[static_cast<size_t>(broker)];
  std::vector<int64_t> known;
  for (const auto& [id, since] : knowledge.tasks) {
    if (since <= now_) known.push_back(id);
  }
  knowledge.leasing.insert(run->lane_stage);
  After(Latency(), [=, this, jumps = clock_jumps_, &knowledge]() mutable {
    knowledge.leasing.erase(knowledge.leasing.find(run->lane_stage));
    const bool is_away = !brokers_[static_cast<size_t>(broker)].is_connected;
    const bool is_taken = IsTaken(*run);
    if (is_away || is_taken || Chance(history_.failing)) {
      if (ended) return ended(false);
      return EndLease(broker, run, is_taken ? absl::AlreadyExistsError("taken") : Away());
    }
    const Taken taken = tables_.Lock(run->demand, DatabaseNow());
    Trace(broker, "leases in lane ", run->lane_stage.lane, ", stage ", run->lane_stage.stage, " ",
          taken.ids.size(), " of ", run->demand.slots.size());
    if (jumps != clock_jumps_) known.clear();
    judge_.Taken(taken, *run, known, knowledge, DatabaseNow(), now_);
    for (const int64_t id : taken.ids) Forget(id);
    After(Latency(), [=, this] { Finish(broker, run, taken, ended); });
  });
}

// The statement is committed, or its answer is lost and nobody knows.
void World::Finish(int broker, const Run& run, const Taken& taken,
                   const std::function<void(bool)>& ended) {
  const std::vector<int64_t>& ids = taken.ids;
  const bool is_lost = Chance(history_.failing / 2);
  if (is_lost && Chance(500)) {
    tables_.Rollback(ids, now_);
    return After(Span(Pick(50, 1500)), [=, this] { EndLease(broker, run, broker::RepeatLater()); });
  }
  const std::vector<int32_t> takers = TakersOf(*run, ids.size());
  std::map<int64_t, std::string> keys;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto caller = static_cast<size_t>(takers[i] - 1);
    keys[ids[i]] = run->demand.callers[caller].request_id;
  }
  tables_.Commit(keys, now_);
  store::Leased leased = Rows(*run, ids);
  leased.saw_packs = taken.saw_packs;
  leased.held_back = taken.held_back;
  if (is_lost) broker::LeaveBounds(run->demand, leased);
  for (const broker::TicketPtr& ticket : run->tickets) {
    if (!taken.held_back.empty()) callers_.at(ticket.get()).left_some.insert(run->lane_stage);
  }
  if (ended) ended(true);
  const bool is_found = !is_lost || (Chance(900) && !ids.empty());
  After(is_lost ? Span(Pick(50, 1500)) : Latency(), [=, this] {
    if (is_lost) Unhealthy(broker);
    if (is_found) return EndLease(broker, run, leased);
    for (const store::LeasedRow& row : leased.rows) {  // it ends with its session
      const model::LeaseToken& token = row.task.token;
      After(Span(3000), [=, this] { Free(-1, token.task.id, token.lease_number, {}); });
    }
    EndLease(broker, run, broker::RepeatLater());
  });
}

store::Leased World::Rows(const broker::LeaseRun& run, const std::vector<int64_t>& ids) const {
  store::Leased leased;
  const std::vector<int32_t> takers = TakersOf(run, ids.size());
  leased.now = DatabaseNow();
  for (size_t i = 0; i < ids.size(); ++i) {
    const Task& task = *tables_.Find(ids[i]);
    store::LeasedRow& row = leased.rows.emplace_back();
    row.caller = takers[i] - 1;
    row.task.priority = task.priority;
    row.task.schedule_time = task.schedule_time;
    row.task.token.task = {task.lane_stage.lane, task.id};
    row.task.token.stage = task.lane_stage.stage;
    row.task.token.lease_number = task.lease_number;
    if (task.pack == 0) continue;
    row.task.token.block = model::LeaseToken::kPackBlock;
    row.task.token.offset = static_cast<uint16_t>(task.id - task.pack);
  }
  return leased;
}

void World::EndLease(int broker, const Run& run, absl::StatusOr<store::Leased> leased) {
  if (!leased.ok()) {
    Unhealthy(broker);
    Trace(broker, "lease failed in lane ", run->lane_stage.lane, ", stage ", run->lane_stage.stage);
  }
  if (run->IsReservation()) EndReservation(broker, *run);
  if (run->kind == broker::LeaseRun::Kind::kHandOff) {
    std::multiset<LaneStage>& handing = known_[static_cast<size_t>(broker)].handing;
    handing.erase(handing.find(run->lane_stage));
  }
  std::vector<model::LeaseToken> tokens;
  std::set<const Ticket*> got;
  if (leased.ok()) {
    for (const store::LeasedRow& row : leased->rows) {
      tokens.push_back(row.task.token);
      got.insert(run->tickets[static_cast<size_t>(row.caller)].get());
    }
  }
  auto actions =
      Do(broker, [&](auto& s, Step& step) { s.EndLease(*run, std::move(leased), step); });
  for (const TicketPtr& ticket : run->tickets) NoteStates(broker, *ticket);  // reserved ones come
  judge_.Delivered(*run, tokens, actions);
  if (!run->IsReservation()) judge_.Served(*run, got, broker, callers_, waiting_);
  Perform(broker, std::move(actions));
}

void World::RunProbe(int broker, LaneStage lane_stage) {
  broker::ProbeStart start;
  Perform(broker, Do(broker, [&](auto& s, Step& step) { start = s.BeginProbe(lane_stage, step); }));
  After(ProbeLatency(), [=, this] {
    const bool fails = !brokers_[static_cast<size_t>(broker)].is_connected ||
                       Chance(history_.failing);
    absl::StatusOr<broker::ProbeResult> seen = Away();
    if (!fails) seen = tables_.Probe(lane_stage, start.from, DatabaseNow());
    const Span reading = start.is_rescan ? RescanLatency() : Span(0);
    After(ProbeLatency() + reading, [=, this, jumps = clock_jumps_] {
      if (fails) Unhealthy(broker);
      Trace(broker, "probe of lane ", lane_stage.lane, ", stage ", lane_stage.stage,
            fails ? " failed" : absl::StrCat(" saw ", seen->ready));
      if (!fails && jumps == clock_jumps_) LearnReady(broker, seen->first_ready);
      Perform(broker,
              Do(broker, [&](auto& s, Step& step) { s.EndProbe(lane_stage, start, seen, step); }));
    });
  });
}

void World::RunFind(int broker, const TicketPtr& ticket) {
  if (ticket->state == Ticket::State::kDone) return;
  After(Latency(), [=, this] {
    absl::StatusOr<broker::LeaseAnswer> found = broker::LeaseAnswer();
    if (!brokers_[static_cast<size_t>(broker)].is_connected || Chance(history_.failing)) {
      found = Away();
      Unhealthy(broker);
    } else {
      for (const Ticket::Wanted& wanted : ticket->wanted) {
        const int64_t lane = wanted.lane_stage.lane;
        for (const int64_t id : tables_.FindRequest(lane, ticket->RequestIdIn(wanted.lane_stage))) {
          const Task& task = *tables_.Find(id);
          model::LeasedTask& again = found->tasks.emplace_back();
          again.token.task = {lane, id};
          again.token.stage = task.lane_stage.stage;
          again.token.lease_number = task.lease_number;
        }
      }
    }
    After(Latency(), [=, this] {
      Caller& caller = callers_.at(ticket.get());
      const bool was_in_lanes = caller.IsInLanes();
      auto actions =
          Do(broker, [&](auto& s, Step& step) { s.EndFind(ticket, found, step); });
      if (!was_in_lanes && caller.IsInLanes()) {
        caller.turn = ++last_turn_;
        caller.enlisted = now_;
        caller.passed.clear();
      }
      NoteStates(broker, *ticket);
      Perform(broker, std::move(actions));
    });
  });
}

// One transaction: the task goes, and tasks of its lane are leased for the next call.
void World::AckAndLease(int broker, int64_t id, int64_t lease_number, const Ticket& previous) {
  const Task* const task = tables_.Find(id);
  if (task == nullptr || !task->is_leased || task->lease_number != lease_number) return;
  auto next = std::make_shared<Ticket>();
  next->call = CallOf(previous);
  next->waits = previous.waits;
  next->deadline = now_ + (next->waits ? Span(6000) : Span(0));
  next->wanted = previous.wanted;
  if (!previous.most_of.empty()) next->most_of.assign(next->wanted.size(), 1);
  auto run = std::make_shared<broker::LeaseRun>();
  const int64_t lane = task->lane_stage.lane;
  Perform(broker, Do(broker, [&](broker::Scheduler& scheduler, Step& step) {
            const auto lane_stage = scheduler.FindReservable(*next, lane, now_);
            if (!lane_stage.has_value()) return;
            *run = scheduler.Reserve(*lane_stage, {next}, step);
            ReservedAt(broker).insert(*lane_stage);
          }));
  if (run->tickets.empty()) {
    tables_.Delete(id);
    Admit(broker, next);
    return;
  }
  callers_[next.get()] = {.ticket = next, .broker = broker, .is_reserved = true, .began = now_};
  Execute(broker, run, [=, this](bool is_committed) {
    const Task* const acked = tables_.Find(id);
    const bool is_held =
        acked != nullptr && acked->is_leased && acked->lease_number == lease_number;
    if (is_committed && is_held) tables_.Delete(id);
    if (is_committed) return;
    EndReservation(broker, *run);
    Perform(broker, Do(broker, [&](auto& s, Step& step) { s.Withdraw(*run, step); }));
  });
}

}  // namespace skiplane::simulation
