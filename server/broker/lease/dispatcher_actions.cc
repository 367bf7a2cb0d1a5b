#include <chrono>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/lease/caller_sessions.h"
#include "server/broker/lease/decision_log.h"
#include "server/broker/lease/dispatcher.h"
#include "server/broker/lease/probe_lane_stage.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

// What is leased under a request id already is found before the statement fails for it.
absl::StatusOr<store::Leased> LeaseAsked(pg::Session& session, LeaseRun& run) {
  if (!run.unsought.empty()) {
    const std::vector<absl::string_view> ids(run.unsought.begin(), run.unsought.end());
    absl::StatusOr<std::vector<std::string>> known =
        store::KnownRequests(session, run.lane_stage.lane, ids);
    if (IsOutcomeUnknown(known.status())) return RepeatLater();
    RETURN_IF_ERROR(known.status());
    if (!known->empty()) {
      run.taken_ids = *std::move(known);
      return absl::AlreadyExistsError("something is leased under a request id");
    }
  }
  absl::StatusOr<store::Leased> leased = store::Lease(session, run.demand);
  if (absl::IsAlreadyExists(leased.status())) NoteTakenIds(session, run);
  return leased;
}

int64_t BytesOf(const LeaseAnswer& answer) {
  int64_t bytes = 0;
  for (const model::LeasedTask& task : answer.tasks) {
    const size_t rest = sizeof(task) + task.key.size() + task.content_type.size();
    bytes += ContentBytes(task) + static_cast<int64_t>(rest);
  }
  return bytes;
}

}  // namespace

void Dispatcher::Perform(std::vector<Action> actions) {
  const Overloaded perform{
      [this](const SendLease& send) { lease_jobs_.Begin(send.lane_stage, send.party); },
      [this](const SendProbe& send) {
        context_.turns.Submit(TurnOf::kProbe, probe_parties_.PartyOf(send.lane_stage),
                              [this, send](absl::StatusOr<pg::Session*> session) {
                                RunProbe(send.lane_stage, std::move(session));
                              });
      },
      [this](const SendFind& send) { finder_.Find(send.ticket, send.is_urgent); },
      [this](Answer& answer) { Perform(answer); },
      [](const Decline& decline) { decline.ticket->on_declined(); },
      [this](HandBack& orphans) {
        context_.metrics.OrphanLeasesReleased(static_cast<int64_t>(orphans.tokens.size()));
        on_orphans_(std::move(orphans.tokens));
      },
      [](const TellHeldBack& held) { LogHeldBack(*held.queue, held.lane_stage, held.why); },
  };
  for (Action& action : actions) std::visit(perform, action);
}

void Dispatcher::Perform(Answer& answer) {
  if (answer.answer.ok() && !answer.answer->tasks.empty()) {
    answer.answer->memory = memory_.Hold(answer.ticket->call.party, BytesOf(*answer.answer));
  }
  if (answer.ticket->is_gone) answer.answer = SessionLost();
  const std::string& worker = answer.ticket->call.worker_id;
  if (answer.answer.ok() && !worker.empty()) {
    if (const auto known = sessions_.Find(worker)) answer.answer->command = known->command;
  }
  answer.ticket->done(std::move(answer.answer));
}

void Dispatcher::RunLease(model::LaneStage lane_stage, absl::StatusOr<pg::Session*> session) {
  LeaseRun run;
  {
    Event event(*this);
    run = scheduler_.BeginLease(lane_stage, event.step);
  }
  if (run.tickets.empty()) return;
  absl::StatusOr<store::Leased> leased = store::Leased();
  if (!session.ok()) {
    leased = session.status();
  } else if (absl::Status status = PrepareSessions(**session, sessions_, run); !status.ok()) {
    leased = IsOutcomeUnknown(status) ? RepeatLater() : status;
  } else if (!run.demand.bounds.empty()) {
    EndOf(run.gone);
    leased = LeaseAsked(**session, run);
  }
  FinishRun(run, std::move(leased));
}

// Their workers have to learn that their sessions have ended.
void Dispatcher::EndOf(const std::vector<TicketPtr>& gone) {
  if (gone.empty()) return;
  Event event(*this);
  for (const TicketPtr& ticket : gone) {
    ticket->is_gone = true;
    scheduler_.Cancel(ticket, event.step);
  }
}

void Dispatcher::FinishRun(LeaseRun& run, absl::StatusOr<store::Leased> leased) {
  if (IsOutcomeUnknown(leased.status())) {
    lost_.Resolve(std::move(run));
    return;
  }
  const bool is_leased = leased.ok();
  const size_t count = is_leased ? leased->rows.size() : 0;
  if (is_leased) {
    Track(run, *leased);
    RecordMetrics(run, *leased);
  }
  int64_t callers = 0;
  {
    Event event(*this);
    callers = scheduler_.WaitingCallsAt(run.lane_stage);
    scheduler_.EndLease(run, std::move(leased), event.step);
  }
  if (is_leased) LogLeased(*run.queue, run, count, static_cast<size_t>(callers));
}

void Dispatcher::Track(const LeaseRun& run, const store::Leased& leased) {
  absl::flat_hash_map<pg::Uuid, std::vector<model::LeaseToken>> by_ledger;
  for (const store::LeasedRow& row : leased.rows) {
    const auto caller = static_cast<size_t>(row.caller);
    by_ledger[run.demand.callers[caller].ledger].push_back(row.task.token);
  }
  const int64_t lane = run.lane_stage.lane;
  for (const auto& [ledger, tokens] : by_ledger) tracker_.Leased(lane, ledger, tokens);
}

void Dispatcher::RecordMetrics(const LeaseRun& run, const store::Leased& leased) {
  const std::string& queue = run.queue->name;
  int64_t first = 0;
  std::vector<absl::Duration> waits;
  waits.reserve(leased.rows.size());
  for (const store::LeasedRow& row : leased.rows) {
    if (row.task.token.attempt == 1) {
      ++first;
      const std::optional<absl::Time>& planned = row.task.planned_time;
      if (planned) context_.metrics.ScheduleLag(queue, leased.now - *planned);
    }
    waits.push_back(leased.now - row.task.schedule_time);
    context_.metrics.QueueWait(queue, waits.back());
  }
  context_.minutes->Waited(run.lane_stage, waits, leased.now);
  const int64_t all = static_cast<int64_t>(leased.rows.size());
  if (first > 0) context_.metrics.Leased(queue, "first", first);
  if (all > first) context_.metrics.Leased(queue, "retry", all - first);
  if (run.kind == LeaseRun::Kind::kHandOff) {
    context_.metrics.HandedOff(all);
  } else {
    context_.metrics.Batch("lease", all);
  }
}

void Dispatcher::RunProbe(model::LaneStage lane_stage, absl::StatusOr<pg::Session*> session) {
  ProbeStart start;
  {
    Event event(*this);
    start = scheduler_.BeginProbe(lane_stage, event.step);
  }
  const base::SteadyTime began = std::chrono::steady_clock::now();
  absl::StatusOr<ProbeResult> seen =
      session.ok() ? ProbeLaneStage(**session, lane_stage, start.from) : session.status();
  if (seen.ok()) probe_parties_.Note(lane_stage, std::chrono::steady_clock::now() - began);
  if (IsOutcomeUnknown(seen.status())) seen = RepeatLater();  // a probe changes nothing
  Event event(*this);
  scheduler_.EndProbe(lane_stage, start, seen, event.step);
}

// Who was answered needs no look.
std::vector<TicketPtr> Dispatcher::Unanswered(std::vector<TicketPtr> tickets) {
  const base::MutexLock lock(mutex_);
  std::erase_if(tickets,
                [](const TicketPtr& ticket) { return ticket->state == Ticket::State::kDone; });
  return tickets;
}

void Dispatcher::EndFind(const TicketPtr& ticket, absl::StatusOr<LeaseAnswer> found) {
  Event event(*this);
  scheduler_.EndFind(ticket, std::move(found), event.step);
}

}  // namespace skiplane::broker
