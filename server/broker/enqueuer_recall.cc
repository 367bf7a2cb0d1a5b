#include "server/base/status_macros.h"
#include "server/broker/enqueuer.h"

namespace skiplane::broker {

// Dispatchers look for what the lost commit made free: all that is known of it is what was asked.
absl::StatusOr<std::vector<EnqueueResult>> Enqueuer::Recall(pg::Session& session,
                                                            const PendingEnqueue& call) {
  const store::Enqueued unknown;
  ASSIGN_OR_RETURN(std::vector<EnqueueResult> results, AnswerEnqueue(session, call, unknown));
  store::Enqueued suspected;
  for (size_t i = 0; i < call.ids.size(); ++i) {
    const model::NewTask& task = call.call.tasks[i];
    const int16_t stage = call.queue->settings.FindStage(task.stage).value_or(0);
    suspected.claimable.push_back(
        {call.ids[i].lane, stage, task.priority, true, 1, absl::InfinitePast()});
  }
  on_commit_(suspected);
  Count(call, unknown);
  return results;
}

}  // namespace skiplane::broker
