#include "server/broker/sessions/session_ender.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/pg/conflicts.h"
#include "server/store/reclaim.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kAtMost(10);
constexpr char kEndsParty[] = "ends of sessions";  // whose turns it takes to go on with them
constexpr int kLedgerRowsAtOnce = 20;

void LogEnded(size_t workers, size_t sessions, size_t lanes) {
  static constinit base::SampledEvent event("sessions_ended");
  if (!event.Wanted()) return;
  event.Write({{"workers", absl::StrCat(workers)},
               {"sessions", absl::StrCat(sessions)},
               {"lanes_with_leases", absl::StrCat(lanes)}});
}

}  // namespace

// Calls that end sessions together.
struct SessionEnder::Ending {
  std::vector<Pending> calls;
  std::vector<pg::Uuid> sessions;
  std::set<int64_t> lanes;  // in which they may still hold something
  base::SteadyTime until = steady_clock::now() + kAtMost;
};

SessionEnder::SessionEnder(Context& context, QueueCache& queues, SessionCache& sessions,
                           OnCommit on_commit, OnEnded on_ended)
    : context_(context),
      queues_(queues),
      sessions_(sessions),
      on_commit_(std::move(on_commit)),
      on_ended_(std::move(on_ended)),
      batcher_(context.pool, BatchLimits{.party = "session ends"},
               [this](absl::StatusOr<pg::Session*> session, std::vector<Pending> ends) {
                 Run(std::move(session), std::move(ends));
               }) {}

void SessionEnder::End(HeartbeatCall call, Callback<HeartbeatAnswer> done) {
  const auto bytes = static_cast<int64_t>(64 * (call.leases.size() + 1));
  Pending pending{std::move(call), std::move(done)};
  if (!batcher_.Add(std::move(pending), 1, bytes)) pending.done(TooManyCalls());
}

void SessionEnder::Run(absl::StatusOr<pg::Session*> session, std::vector<Pending> ends) {
  auto ending = std::make_shared<Ending>();
  ending->calls = std::move(ends);
  if (session.ok()) {
    const absl::Status status =
        pg::RepeatConflicts([&] { return Begin(**session, *ending); });
    if (!status.ok()) session = status;
  }
  HandBack(ending, session);
}

// A worker may end its session twice in a batch: once then, as by the later call.
absl::Status SessionEnder::Begin(pg::Session& session, Ending& ending) {
  std::map<std::string, base::SteadyTime> workers;
  for (const Pending& end : ending.calls) {
    base::SteadyTime& began = workers.try_emplace(end.call.worker_id, end.call.began).first->second;
    began = std::max(began, end.call.began);
  }
  std::vector<store::SessionEnd> ends;
  const base::SteadyTime now = steady_clock::now();
  for (const auto& [worker, began] : workers) {
    ends.push_back({worker, absl::FromChrono(now - began)});
  }
  ASSIGN_OR_RETURN(ending.sessions, store::EndSessions(session, ends));
  for (const auto& [worker, began] : workers) sessions_.Forget(worker);
  if (!ending.sessions.empty()) on_ended_(ending.sessions);
  ASSIGN_OR_RETURN(const auto held, store::LedgerLanes(session, ending.sessions));
  for (const auto& [lane, id] : held) ending.lanes.insert(lane);
  LogEnded(workers.size(), ending.sessions.size(), ending.lanes.size());
  return absl::OkStatus();
}

void SessionEnder::HandBack(const std::shared_ptr<Ending>& ending,
                            absl::StatusOr<pg::Session*> session) {
  const base::SteadyTime turn_ends = steady_clock::now() + kTurn;
  while (session.ok() && !ending->lanes.empty()) {
    const base::SteadyTime now = steady_clock::now();
    if (now >= ending->until) break;  // upkeep goes on with it
    if (now >= turn_ends) {
      context_.turns.Submit(TurnOf::kWork, kEndsParty,
                            [this, ending](absl::StatusOr<pg::Session*> next) {
                              HandBack(ending, std::move(next));
                            });
      return;
    }
    const absl::StatusOr<bool> is_done =
        pg::RepeatConflicts([&] { return Step(**session, *ending); });
    if (!is_done.ok()) {
      session = is_done.status();
    } else if (*is_done) {
      ending->lanes.erase(ending->lanes.begin());
    }
  }
  Answer(*ending, session.status());
}

// Returns whether the first lane holds nothing of the sessions any more.
absl::StatusOr<bool> SessionEnder::Step(pg::Session& session, Ending& ending) {
  const int64_t lane = *ending.lanes.begin();
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, lane));
  if (queue == nullptr) return true;  // what upkeep cannot free either
  ASSIGN_OR_RETURN(const store::Reclaimed freed,
                   store::Reclaim(session, lane, ending.sessions, queue->settings,
                                  kLedgerRowsAtOnce, store::Action::kRelease));
  if (freed.freed > 0) context_.metrics.AttemptEnded(queue->name, "released", freed.freed);
  if (freed.cancelled > 0) {
    context_.metrics.AttemptEnded(queue->name, "cancelled", freed.cancelled);
    context_.metrics.Finished(queue->name, "cancelled", freed.cancelled);
  }
  context_.on_ended(lane, freed.ended);
  if (!freed.unleased.empty()) on_commit_(freed.unleased, freed.now);
  return !freed.found_rows;
}

void SessionEnder::Answer(Ending& ending, const absl::Status& status) {
  for (Pending& end : ending.calls) {
    if (!status.ok()) {  // an end may be repeated at will
      end.done(IsOutcomeUnknown(status) ? RepeatLater() : status);
      continue;
    }
    HeartbeatAnswer answer;
    answer.states.assign(end.call.leases.size(), model::LeaseState::kLost);
    end.done(std::move(answer));
  }
}

}  // namespace skiplane::broker
