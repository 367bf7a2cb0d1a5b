// Several statements as one transaction.
#pragma once

#include "server/base/status_macros.h"
#include "server/pg/session.h"

namespace skiplane::pg {

// What `work` returns, a Status or a StatusOr, decides; an error undoes all of it.
template <typename Work>
auto InTransaction(Session& session, Work work) -> decltype(work()) {
  RETURN_IF_ERROR(session.RunText("BEGIN").status());
  auto answer = work();
  const absl::Status status =
      answer.ok() ? session.RunText("COMMIT").status() : absl::OkStatus();
  if (!answer.ok() && session.alive()) static_cast<void>(session.RunText("ROLLBACK"));
  if (!status.ok()) return status;
  return answer;
}

}  // namespace skiplane::pg
