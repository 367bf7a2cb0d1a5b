#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
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
      [this](const SendLease& send) {
        context_.pool.Submit([this, send](absl::StatusOr<pg::Session*> session) {
          RunLease(send.lane_stage, std::move(session));
        });
      },
      [this](const SendProbe& send) {
        context_.pool.Submit([this, send](absl::StatusOr<pg::Session*> session) {
          RunProbe(send.lane_stage, std::move(session));
        });
      },
      [this](const SendFind& send) {
        context_.pool.Submit([this, ticket = send.ticket](absl::StatusOr<pg::Session*> session) {
          RunFind(ticket, std::move(session));
        });
      },
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
    leased = store::Lease(**session, run.demand);
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
  absl::StatusOr<ProbeResult> seen =
      session.ok() ? ProbeLaneStage(**session, lane_stage) : session.status();
  if (IsOutcomeUnknown(seen.status())) seen = RepeatLater();  // a probe changes nothing
  Event event(*this);
  scheduler_.EndProbe(lane_stage, start, seen, event.step);
}

void Dispatcher::RunFind(const TicketPtr& ticket, absl::StatusOr<pg::Session*> session) {
  absl::StatusOr<LeaseAnswer> found =
      session.ok() ? FindRepeated(**session, ticket) : session.status();
  if (IsOutcomeUnknown(found.status())) found = RepeatLater();
  Event event(*this);
  scheduler_.EndFind(ticket, std::move(found), event.step);
}

// What an earlier call with this request id got, and still holds.
absl::StatusOr<LeaseAnswer> Dispatcher::FindRepeated(pg::Session& session,
                                                     const TicketPtr& ticket) {
  LeaseAnswer answer;
  struct Asked {
    QueuePtr queue;
    std::vector<std::string> ids;
  };
  std::map<int64_t, Asked> lanes;
  for (const Ticket::Wanted& wanted : ticket->wanted) {
    Asked& asked = lanes[wanted.lane_stage.lane];
    asked.queue = wanted.queue;
    asked.ids.push_back(ticket->RequestIdIn(wanted.lane_stage));
  }
  for (const auto& [lane, asked] : lanes) {
    const std::vector<absl::string_view> ids(asked.ids.begin(), asked.ids.end());
    ASSIGN_OR_RETURN(std::vector<store::LeasedRow> found, store::FindRequest(session, lane, ids));
    for (store::LeasedRow& row : found) {
      NameQueue(*asked.queue, row.task);
      answer.tasks.push_back(std::move(row.task));
    }
  }
  if (answer.tasks.empty()) return answer;
  if (ticket->call.worker_id.empty()) {
    ASSIGN_OR_RETURN(answer.lease_remaining,
                     store::SessionRemaining(session, answer.tasks.front().token.session));
    return answer;
  }
  LeaseRun run;  // of one caller, for its session
  run.tickets.push_back(ticket);
  run.demand.callers.emplace_back();
  run.lives_until.emplace_back();
  RETURN_IF_ERROR(PrepareSessions(session, sessions_, run));
  answer.lease_remaining =
      absl::FromChrono(run.lives_until.front() - std::chrono::steady_clock::now());
  return answer;
}

}  // namespace skiplane::broker
