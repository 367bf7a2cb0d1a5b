#include "server/broker/beater.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "server/broker/refusals.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

// What the leases of a call report, by task id; empty if nothing.
std::string ProgressOf(const std::vector<model::HeldLease>& leases) {
  nlohmann::json progress = nlohmann::json::object();
  for (const model::HeldLease& lease : leases) {
    if (!lease.progress.has_value()) continue;
    progress[absl::StrCat(lease.token.task.id)] = {{"fraction", lease.progress->fraction},
                                                   {"message", lease.progress->message}};
  }
  return progress.empty() ? std::string() : progress.dump();
}

model::LeaseState StateOf(const model::LeaseToken& token, const store::LivingSession& session) {
  if (token.session != session.id) return model::LeaseState::kLost;
  const bool is_cancelled = std::find(session.cancels.begin(), session.cancels.end(),
                                      token.task.id) != session.cancels.end();
  return is_cancelled ? model::LeaseState::kCancelRequested : model::LeaseState::kHeld;
}

HeartbeatAnswer LostAnswer(const HeartbeatCall& call) {
  HeartbeatAnswer answer;
  answer.states.assign(call.leases.size(), model::LeaseState::kLost);
  return answer;
}

HeartbeatAnswer AnswerFor(const HeartbeatCall& call, const store::LivingSession& session) {
  HeartbeatAnswer answer;
  answer.session_alive = true;
  answer.lease_remaining = session.remaining;
  for (const model::HeldLease& lease : call.leases) {
    answer.states.push_back(StateOf(lease.token, session));
  }
  return answer;
}

}  // namespace

Beater::Beater(Context& context, SessionCache& sessions)
    : context_(context),
      sessions_(sessions),
      batcher_(context.pool, BatchLimits(),
               [this](absl::StatusOr<pg::Session*> session, std::vector<Pending> beats) {
                 Run(std::move(session), std::move(beats));
               }) {}

void Beater::Heartbeat(HeartbeatCall call, Done<HeartbeatAnswer> done) {
  const auto bytes = static_cast<int64_t>(64 * (call.leases.size() + 1));
  Pending pending{std::move(call), std::move(done)};
  if (!batcher_.Add(std::move(pending), 1, bytes)) pending.done(TooManyCalls());
}

void Beater::Renew(const std::string& worker_id, absl::Duration duration) {
  if (worker_id.empty() || sessions_.FindLiving(worker_id, duration).has_value()) return;
  HeartbeatCall call;
  call.worker_id = worker_id;
  call.lease_duration = duration;
  Heartbeat(std::move(call), [](const absl::StatusOr<HeartbeatAnswer>&) {});
}

// A worker may beat twice in a batch: one row then, with the longer duration and all the progress.
void Beater::Run(absl::StatusOr<pg::Session*> session, std::vector<Pending> beats) {
  if (!session.ok()) {
    for (Pending& beat : beats) beat.done(session.status());
    return;
  }
  std::map<std::string, store::Beat> by_worker;
  for (const Pending& beat : beats) {
    store::Beat& row = by_worker[beat.call.worker_id];
    row.worker_id = beat.call.worker_id;
    row.duration = std::max(row.duration, beat.call.lease_duration);
    const std::string progress = ProgressOf(beat.call.leases);
    if (!progress.empty()) row.progress_json = progress;
  }
  std::vector<store::Beat> rows;
  for (auto& [worker, row] : by_worker) rows.push_back(std::move(row));

  const base::SteadyTime sent = std::chrono::steady_clock::now();
  const auto living = store::BeatSessions(**session, rows);
  context_.metrics.Batch("heartbeat", static_cast<int64_t>(rows.size()));
  if (!living.ok()) {  // a beat may be repeated at will
    const absl::Status status = IsOutcomeUnknown(living.status()) ? RepeatLater() : living.status();
    for (Pending& beat : beats) beat.done(status);
    return;
  }
  absl::flat_hash_map<std::string, const store::LivingSession*> alive;
  for (const store::LivingSession& one : *living) {
    alive[one.worker_id] = &one;
    sessions_.Learn(one.worker_id, one.id, sent, one.remaining);
  }
  for (Pending& beat : beats) {
    const auto found = alive.find(beat.call.worker_id);
    if (found == alive.end()) sessions_.Forget(beat.call.worker_id);
    beat.done(found == alive.end() ? LostAnswer(beat.call) : AnswerFor(beat.call, *found->second));
  }
}

}  // namespace skiplane::broker
