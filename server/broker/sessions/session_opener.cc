#include "server/broker/sessions/session_opener.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/sessions/touch_of.h"
#include "server/pg/conflicts.h"
#include "server/store/reclaim.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

constexpr char kLooksParty[] = "later looks";  // whose turns they take

void LogOpened(size_t workers) {
  static constinit base::SampledEvent event("sessions_opened");
  if (!event.Wanted()) return;
  event.Write({{"workers", absl::StrCat(workers)}});
}

void LogUnknown(size_t leases) {
  static constinit base::SampledEvent event("unknown_leases_released");
  if (!event.Wanted()) return;
  event.Write({{"leases", absl::StrCat(leases)}});
}

// Of those leases that the worker names, which it holds.
absl::Status FindStates(pg::Session& session, const OpenSessionCall& call,
                        const store::LivingSession& living, OpenSessionAnswer* answer) {
  answer->states.assign(call.leases.size(), model::LeaseState::kLost);
  std::vector<model::LeaseToken> own;
  for (const model::LeaseToken& lease : call.leases) {
    if (lease.session == living.id) own.push_back(lease);
  }
  if (own.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto states, store::FindLeaseStates(session, own));
  size_t next = 0;
  for (size_t i = 0; i < call.leases.size(); ++i) {
    if (call.leases[i].session == living.id) answer->states[i] = states[next++];
  }
  return absl::OkStatus();
}

}  // namespace

// A lease statement that was under way when a worker came has nearly always ended before the first
// of these, and one that waited for locks or the disk before the last: no statement takes longer
// than 10 seconds (pg/session.h). The session of a worker that beats would keep the lease for ever.
SessionOpener::Looks SessionOpener::LaterLooks() {
  return {std::chrono::seconds(1), std::chrono::seconds(20)};
}

SessionOpener::SessionOpener(Context& context, SessionCache& sessions, OnUnknown on_unknown,
                             Looks later_looks)
    : context_(context),
      sessions_(sessions),
      on_unknown_(std::move(on_unknown)),
      later_looks_(std::move(later_looks)),
      batcher_(context.pool, BatchLimits{.party = "session openings"},
               [this](absl::StatusOr<pg::Session*> session, std::vector<Pending> opens) {
                 Run(std::move(session), std::move(opens));
               }) {}

void SessionOpener::Open(OpenSessionCall call, Callback<OpenSessionAnswer> done) {
  const auto bytes = static_cast<int64_t>(64 * (call.leases.size() + 1));
  Pending pending{std::move(call), std::move(done)};
  if (!batcher_.Add(std::move(pending), 1, bytes)) pending.done(TooManyCalls());
}

void SessionOpener::Run(absl::StatusOr<pg::Session*> session, std::vector<Pending> opens) {
  std::vector<OpenSessionAnswer> answers(opens.size());
  KnownBySession known;
  absl::Status status = session.status();
  if (status.ok()) status = OpenAll(**session, opens, &answers, &known);
  if (status.ok()) status = HandBackUnknown(**session, known).status();
  if (IsOutcomeUnknown(status)) status = RepeatLater();  // it may be repeated at will
  for (size_t i = 0; i < opens.size(); ++i) {
    if (status.ok()) {
      opens[i].done(std::move(answers[i]));
    } else {
      opens[i].done(status);
    }
  }
  if (!status.ok()) return;
  LogOpened(opens.size());
  LookLater(std::make_shared<const KnownBySession>(std::move(known)));
}

void SessionOpener::LookLater(const std::shared_ptr<const KnownBySession>& known) {
  for (const std::chrono::milliseconds delay : later_looks_) LookAfter(delay, known);
}

// Nobody else finds what a living session holds.
void SessionOpener::LookAfter(std::chrono::milliseconds delay,
                              const std::shared_ptr<const KnownBySession>& known) {
  context_.timer.After(delay, [this, delay, known] {
    context_.turns.Submit(
        TurnOf::kWork, kLooksParty, [this, delay, known](absl::StatusOr<pg::Session*> session) {
          const absl::StatusOr<size_t> found =
              session.ok() ? HandBackUnknown(**session, *known) : session.status();
          const bool is_last = delay == later_looks_.back();
          if (!found.ok() || (is_last && *found > 0)) LookAfter(delay, known);
        });
  });
}

// A worker that comes twice in a batch counts as it came last.
absl::Status SessionOpener::OpenAll(pg::Session& session, const std::vector<Pending>& opens,
                                    std::vector<OpenSessionAnswer>* answers,
                                    KnownBySession* known) {
  std::map<std::string, store::Touch> workers;
  for (const Pending& open : opens) {
    const LeaseCall& lease = open.call.lease;
    workers.insert_or_assign(lease.worker_id,
                             TouchOf(lease, *lease.lease_duration, absl::ZeroDuration()));
  }
  std::vector<store::Touch> touches;
  for (const auto& [worker, touch] : workers) touches.push_back(touch);
  const base::SteadyTime sent = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const auto living,
                   pg::RepeatConflicts([&] { return store::TouchSessions(session, touches); }));
  std::map<std::string, const store::LivingSession*> by_worker;
  for (const store::LivingSession& one : living) {
    by_worker[one.worker_id] = &one;
    if (!one.has_ended) {
      sessions_.Learn(one.worker_id, one.id, sent, one.remaining, one.command);
    }
  }
  for (size_t i = 0; i < opens.size(); ++i) {
    const OpenSessionCall& call = opens[i].call;
    const auto found = by_worker.find(call.lease.worker_id);
    if (found == by_worker.end()) return absl::InternalError("a session was not made");
    const store::LivingSession& one = *found->second;
    OpenSessionAnswer& answer = (*answers)[i];
    answer.session = one.id;
    answer.lease_duration = *call.lease.lease_duration;
    answer.lease_remaining = one.remaining;
    answer.command = one.command;
    RETURN_IF_ERROR(FindStates(session, call, one, &answer));
    Known& named = (*known)[one.id];
    named.leases.clear();
    named.until = one.now;
    for (size_t k = 0; k < call.leases.size(); ++k) {  // those that are over need not be known
      const model::LeaseToken& lease = call.leases[k];
      if (answer.states[k] == model::LeaseState::kLost) continue;
      named.leases.insert({lease.task, lease.lease_number});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> SessionOpener::HandBackUnknown(pg::Session& session,
                                                      const KnownBySession& known) {
  std::vector<pg::Uuid> ids;
  for (const auto& [id, named] : known) ids.push_back(id);
  ASSIGN_OR_RETURN(const auto held, store::LedgerLanes(session, ids));
  std::map<int64_t, std::vector<pg::Uuid>> lanes;
  for (const auto& [lane, id] : held) lanes[lane].push_back(id);
  std::vector<model::LeaseToken> unknown;
  for (const auto& [lane, sessions] : lanes) {
    ASSIGN_OR_RETURN(const auto leases, store::FindLeasesOf(session, lane, sessions));
    for (const model::LeaseToken& lease : leases) {
      const Known& named = known.at(lease.session);
      const bool is_known = named.leases.contains({lease.task, lease.lease_number});
      if (!is_known && lease.lease_number <= named.until) unknown.push_back(lease);
    }
  }
  const size_t count = unknown.size();
  if (count == 0) return count;
  LogUnknown(count);
  // Before they are given back: no heartbeat says of one that others have that it is held.
  RETURN_IF_ERROR(
      pg::RepeatConflicts([&] { return store::TellSessions(session, unknown); }));
  on_unknown_(std::move(unknown));
  return count;
}

}  // namespace skiplane::broker
