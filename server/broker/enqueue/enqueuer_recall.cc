#include "server/base/status_macros.h"
#include "server/broker/enqueue/enqueuer.h"

namespace skiplane::broker {

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

}  // namespace skiplane::broker
