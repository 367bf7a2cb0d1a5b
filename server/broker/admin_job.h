// Runs an operator's call on a session of the pool.
#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "server/broker/calls.h"
#include "server/broker/refusals.h"
#include "server/pg/conflicts.h"
#include "server/pg/pool.h"

namespace skiplane::broker {

// Every admin call may be repeated: an unknown outcome says so. A conflict is repeated here, all of
// `work` anew.
template <typename Answer, typename Work>
void SubmitJob(pg::Pool& pool, Done<Answer> done, Work work) {
  pool.Submit([done = std::move(done),
               work = std::move(work)](absl::StatusOr<pg::Session*> session) mutable {
    if (!session.ok()) {
      done(session.status());
      return;
    }
    absl::StatusOr<Answer> answer =
        pg::RepeatConflicts([&]() -> absl::StatusOr<Answer> { return work(**session); });
    if (IsOutcomeUnknown(answer.status())) answer = RepeatLater();
    done(std::move(answer));
  });
}

}  // namespace skiplane::broker
