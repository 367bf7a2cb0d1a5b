// Runs an operator's call on a session of the pool.
#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
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

// Several statements as one transaction. What `work` returns decides; an error undoes all of it.
template <typename Work>
auto InTransaction(pg::Session& session, Work work) -> decltype(work()) {
  RETURN_IF_ERROR(session.RunText("BEGIN").status());
  auto answer = work();
  absl::Status status = answer.ok() ? session.RunText("COMMIT").status() : absl::OkStatus();
  if (!answer.ok() && session.alive()) static_cast<void>(session.RunText("ROLLBACK"));
  if (!status.ok()) return status;
  return answer;
}

}  // namespace skiplane::broker
