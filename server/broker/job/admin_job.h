// Runs an operator's call on a session of the pool, when the turn of its party has come.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/broker/api/calls.h"
#include "server/broker/api/refusals.h"
#include "server/broker/batch/pool_turns.h"
#include "server/pg/conflicts.h"

namespace skiplane::broker {

// A conflict is repeated here, all of `work` anew. `if_unknown` is the answer when its outcome
// could not be learnt.
template <typename Answer, typename Work>
void SubmitJob(PoolTurns& turns, TurnOf kind, const std::string& party, Callback<Answer> done,
               Work work, absl::Status if_unknown = RepeatLater()) {
  auto job = [done = std::move(done), work = std::move(work), if_unknown = std::move(if_unknown)](
                 absl::StatusOr<pg::Session*> session) mutable {
    if (!session.ok()) {
      done(session.status());
      return;
    }
    absl::StatusOr<Answer> answer =
        pg::RepeatConflicts([&]() -> absl::StatusOr<Answer> { return work(**session); });
    if (IsOutcomeUnknown(answer.status())) answer = std::move(if_unknown);
    done(std::move(answer));
  };
  turns.Submit(kind, party, std::move(job));
}

// The same of a change that is safe to repeat: `change` returns how its commit went, and `read` the
// answer. Where that cannot be read, the change was made all the same, and nothing else is told.
template <typename Answer, typename Change, typename Read>
void SubmitChange(PoolTurns& turns, const std::string& party, Callback<Answer> done, Change change,
                  Read read) {
  auto job = [done = std::move(done), change = std::move(change),
              read = std::move(read)](absl::StatusOr<pg::Session*> session) mutable {
    if (!session.ok()) {
      done(session.status());
      return;
    }
    const absl::Status changed =
        pg::RepeatConflicts([&]() -> absl::Status { return change(**session); });
    if (!changed.ok()) {
      done(IsOutcomeUnknown(changed) ? RepeatLater() : changed);
      return;
    }
    absl::StatusOr<Answer> answer =
        pg::RepeatConflicts([&]() -> absl::StatusOr<Answer> { return read(**session); });
    if (!answer.ok() && !absl::IsNotFound(answer.status())) answer = RepeatLater();
    done(std::move(answer));
  };
  turns.Submit(TurnOf::kCall, party, std::move(job));
}

}  // namespace skiplane::broker
