#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/enqueue/enqueuer.h"

namespace skiplane::broker {
namespace {

constexpr int kResolutionsMax = 3;

// Answers a call whose commit may or may not have happened and cannot be asked for.
absl::Status GiveUp(const PendingEnqueue& call) {
  if (call.is_repeatable) return RepeatLater();
  return base::Refuse(
      absl::StatusCode::kUnknown, "COMMIT_OUTCOME_UNKNOWN",
      "the connection to the database broke during the commit: the tasks may or may "
      "not exist. Give a request_id or keys to make a repeat safe");
}

// Whether any task of the batch lives: then its commit happened, and with it all of them.
absl::StatusOr<bool> AnyLives(pg::Session& session, const PendingEnqueues& calls) {
  std::map<int64_t, std::vector<int64_t>> by_lane;
  for (const auto& call : calls) {
    for (const model::TaskId& id : call->ids) by_lane[id.lane].push_back(id.id);
  }
  for (const auto& [lane, ids] : by_lane) {
    absl::StatusOr<absl::flat_hash_set<int64_t>> living = store::LivingTasks(session, lane, ids);
    if (!living.ok()) return living.status();
    if (!living->empty()) return true;
  }
  return false;
}

}  // namespace

// Dispatchers probe for what the lost commit made ready: all that is known of it is what was asked.
absl::StatusOr<std::vector<EnqueueResult>> Enqueuer::Recall(pg::Session& session,
                                                            const PendingEnqueue& call) {
  const store::Enqueued unknown;
  ASSIGN_OR_RETURN(std::vector<EnqueueResult> results, AnswerEnqueue(session, call, unknown));
  store::Enqueued suspected;
  Suspect(call, suspected);
  on_commit_(suspected);
  Count(call, unknown);
  return results;
}

// The connection broke during the commit. On another one: calls that are safe to repeat are written
// again under the same ids; for the others their tasks are looked for.
void Enqueuer::Resolve(PendingEnqueues calls) {
  const auto first_other = std::stable_partition(
      calls.begin(), calls.end(), [](const auto& call) { return call->is_repeatable; });
  PendingEnqueues others(std::make_move_iterator(first_other),
                         std::make_move_iterator(calls.end()));
  calls.erase(first_other, calls.end());
  if (!calls.empty()) {
    SubmitResolve(std::move(calls), [this](pg::Session& session, PendingEnqueues open) {
      Write(session, std::move(open));
    });
  }
  if (!others.empty()) {
    SubmitResolve(std::move(others), [this](pg::Session& session, PendingEnqueues open) {
      const absl::StatusOr<bool> lives = AnyLives(session, open);
      if (lives.ok() && *lives) {
        Answer(session, store::Enqueued(), std::move(open));
      } else {
        for (auto& call : open) call->done(GiveUp(*call));
      }
    });
  }
}

void Enqueuer::SubmitResolve(PendingEnqueues calls, ResolveStep step) {
  auto shared = std::make_shared<PendingEnqueues>(std::move(calls));
  const pg::JobOrder order{shared->front()->call.party};
  auto run = [this, shared, step](absl::StatusOr<pg::Session*> session) {
    PendingEnqueues open = std::move(*shared);
    if (!session.ok() || open.front()->resolutions++ >= kResolutionsMax) {
      for (auto& call : open) call->done(GiveUp(*call));
      return;
    }
    // What the lost commit made ready is not known: dispatchers probe from the start.
    store::Enqueued suspected;
    for (const auto& call : open) Suspect(*call, suspected);
    on_commit_(suspected);
    step(**session, std::move(open));
  };
  context_.pool.Submit(std::move(run), order);
}

}  // namespace skiplane::broker
