#include "server/broker/sessions/session_renewer.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/pg/conflicts.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

// A delay of 100 ms is safe: a heartbeat is due three times in a lease of a second or more. With it
// thousands of workers need ten commits a second instead of hundreds.
constexpr std::chrono::milliseconds kMinInterval(100);

// What the heartbeats of one worker in one batch say together.
struct Report {
  store::SessionRenewal renewal;
  nlohmann::json held = nlohmann::json::array();
  nlohmann::json progress = nlohmann::json::object();

  void Add(const HeartbeatCall& call) {
    renewal.worker_id = call.worker_id;
    renewal.duration = std::max(renewal.duration, call.lease_duration);
    renewal.ahead = std::max(renewal.ahead, call.ahead);
    for (const model::HeldLease& lease : call.leases) {
      const std::string task = absl::StrCat(lease.token.task.id);
      held.push_back(task);
      if (!lease.progress.has_value()) continue;
      nlohmann::json& known = progress[task];
      // Of two leases of one task the later one lives.
      if (!known.is_null() && known["lease"] > lease.token.lease_number) continue;
      known = {{"lane", lease.token.task.lane},
               {"lease", lease.token.lease_number},
               {"fraction", lease.progress->fraction},
               {"message", lease.progress->message}};
    }
  }

  store::SessionRenewal ToRow() && {
    if (!progress.empty()) {
      renewal.report_json = nlohmann::json{{"held", held}, {"progress", progress}}.dump();
    }
    return std::move(renewal);
  }
};

void LogHeartbeats(size_t workers, size_t alive) {
  static constinit base::SampledEvent event("heartbeats");
  if (!event.Wanted()) return;
  event.Write({{"workers", absl::StrCat(workers)}, {"alive", absl::StrCat(alive)}});
}

HeartbeatAnswer LostAnswer(const HeartbeatCall& call) {
  HeartbeatAnswer answer;
  answer.states.assign(call.leases.size(), model::LeaseState::kLost);
  return answer;
}

// The leases of living sessions that heartbeats name and whose tasks must be asked, since a lease
// of their worker was taken back or is to stop. None, as nearly always: then no task is read.
class Recheck {
 public:
  void Add(const HeartbeatCall& call, const store::LivingSession& session) {
    for (const model::HeldLease& lease : call.leases) {
      if (Concerns(lease.token, session)) tokens_.push_back(lease.token);
    }
  }

  absl::Status Run(pg::Session& session) {
    if (tokens_.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(states_, store::FindLeaseStates(session, tokens_));
    return absl::OkStatus();
  }

  // For the same calls and sessions as Add, in the same order, after a Run that was OK.
  HeartbeatAnswer AnswerFor(const HeartbeatCall& call, const store::LivingSession& session) {
    HeartbeatAnswer answer;
    answer.session_alive = true;
    answer.lease_remaining = session.remaining;
    answer.command = session.command;
    for (const model::HeldLease& lease : call.leases) {
      const bool is_own = lease.token.session == session.id;
      model::LeaseState state = is_own ? model::LeaseState::kHeld : model::LeaseState::kLost;
      if (Concerns(lease.token, session)) state = states_[next_++];
      answer.states.push_back(state);
    }
    return answer;
  }

 private:
  static bool Concerns(const model::LeaseToken& token, const store::LivingSession& session) {
    return token.session == session.id && token.lease_number <= session.recheck_until;
  }

  std::vector<model::LeaseToken> tokens_;
  std::vector<model::LeaseState> states_;
  size_t next_ = 0;
};

}  // namespace

SessionRenewer::SessionRenewer(Context& context, SessionCache& sessions)
    : context_(context),
      sessions_(sessions),
      batcher_(
          context.pool, BatchLimits{.min_interval = kMinInterval, .rank = pg::JobRank::kFirst},
          [this](absl::StatusOr<pg::Session*> session, std::vector<Pending> heartbeats) {
            Run(std::move(session), std::move(heartbeats));
          },
          &context.timer) {}

void SessionRenewer::EndMinInterval() { batcher_.EndMinInterval(); }

void SessionRenewer::Heartbeat(HeartbeatCall call, Callback<HeartbeatAnswer> done) {
  const auto bytes = static_cast<int64_t>(64 * (call.leases.size() + 1));
  Pending pending{std::move(call), std::move(done)};
  if (!batcher_.Add(std::move(pending), 1, bytes)) pending.done(TooManyCalls());
}

void SessionRenewer::Renew(const std::string& worker_id, absl::Duration duration) {
  if (worker_id.empty() || sessions_.FindLiving(worker_id, duration).has_value()) return;
  HeartbeatCall call;
  call.worker_id = worker_id;
  call.lease_duration = duration;
  call.ahead = SessionAhead(duration);
  Heartbeat(std::move(call), [](const absl::StatusOr<HeartbeatAnswer>&) {});
}

// A worker may send two in a batch: one row then, with the longer duration and all the progress.
void SessionRenewer::Run(absl::StatusOr<pg::Session*> session, std::vector<Pending> heartbeats) {
  if (!session.ok()) {
    for (Pending& heartbeat : heartbeats) heartbeat.done(session.status());
    return;
  }
  std::map<std::string, Report> by_worker;
  for (const Pending& heartbeat : heartbeats)
    by_worker[heartbeat.call.worker_id].Add(heartbeat.call);
  std::vector<store::SessionRenewal> rows;
  for (auto& [worker, report] : by_worker) rows.push_back(std::move(report).ToRow());

  const base::SteadyTime sent = std::chrono::steady_clock::now();
  const auto living =
      pg::RepeatConflicts([&] { return store::RenewSessions(**session, rows); });
  context_.metrics.Batch("heartbeat", static_cast<int64_t>(rows.size()));
  if (!living.ok()) {  // a heartbeat may be repeated at will
    const absl::Status status = IsOutcomeUnknown(living.status()) ? RepeatLater() : living.status();
    for (Pending& heartbeat : heartbeats) heartbeat.done(status);
    return;
  }
  LogHeartbeats(rows.size(), living->size());
  absl::flat_hash_map<std::string, const store::LivingSession*> alive;
  for (const store::LivingSession& one : *living) {
    alive[one.worker_id] = &one;
    sessions_.Learn(one.worker_id, one.id, sent, one.remaining, one.command);
  }
  Recheck recheck;
  for (const Pending& heartbeat : heartbeats) {
    const auto found = alive.find(heartbeat.call.worker_id);
    if (found != alive.end()) recheck.Add(heartbeat.call, *found->second);
  }
  const absl::Status rechecked = recheck.Run(**session);
  for (Pending& heartbeat : heartbeats) {
    const auto found = alive.find(heartbeat.call.worker_id);
    if (found == alive.end()) {
      sessions_.Forget(heartbeat.call.worker_id);
      heartbeat.done(LostAnswer(heartbeat.call));
    } else if (!rechecked.ok()) {
      heartbeat.done(IsOutcomeUnknown(rechecked) ? RepeatLater() : rechecked);
    } else {
      heartbeat.done(recheck.AnswerFor(heartbeat.call, *found->second));
    }
  }
}

}  // namespace skiplane::broker
