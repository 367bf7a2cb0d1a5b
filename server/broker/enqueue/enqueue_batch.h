// One batch of Enqueue calls on one session: from calls to rows, and from rows to answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/broker/api/calls.h"
#include "server/broker/enqueue/task_numbers.h"
#include "server/broker/queues/queue_cache.h"
#include "server/store/enqueue.h"

namespace skiplane::broker {

// A call on its way, with what was decided for it.
struct PendingEnqueue {
  QueuePtr queue;                 // of its first task; of all, unless `queues` has one for each
  std::vector<QueuePtr> queues;
  EnqueueCall call;
  Callback<std::vector<EnqueueResult>> done;
  bool has_specials = false;       // keys, stages or schedules
  bool is_repeatable = false;      // it has a request id, or every task a key that tells a repeat
  std::string body_hash;           // with a request id
  int64_t request_lane = 0;        // with a request id
  std::vector<model::TaskId> ids;  // one per task; kept over repeats
  int rewrites = 0;     // because its key or request id was known, and then gone before the answer
  int resolutions = 0;  // after commits of unknown outcome

  const model::Queue& QueueOf(size_t task) const {
    return queues.empty() ? *queue : *queues[task];
  }
  bool NeedsOnce() const { return has_specials || !call.request_id.empty(); }
};

using PendingEnqueues = std::vector<std::unique_ptr<PendingEnqueue>>;

// The refusal of a call of which a key with the policy to reject is held, after ALREADY_EXISTS.
absl::Status KeyExists(pg::Session& session, const PendingEnqueue& call);

// Where the tasks of a key are.
int64_t LaneOfKey(const model::Queue& queue, absl::string_view key);

// Fills what follows from the call and its queue alone.
void PrepareEnqueue(PendingEnqueue& call);

// Gives every task of `call` its lane and number.
absl::Status NumberTasks(pg::Session& session, TaskNumbers& numbers, PendingEnqueue& call);

// One row per task.
std::vector<store::TaskRow> RowsOf(absl::Span<const std::unique_ptr<PendingEnqueue>> calls);

// Whether waiting workers may get some of them by the statement that makes them. Not what locks or
// changes tasks that are there, or begins at a stage of its own.
bool MayHandOff(absl::Span<const std::unique_ptr<PendingEnqueue>> calls);

// Writes the tasks of all calls in one statement: a slower one if any NeedsOnce(), the slowest if
// any has specials. `hand_off`: null, or what MayHandOff() allows. `packs`: makes packs,
// if all queues are set to that, and if ordinary tasks fill some.
absl::StatusOr<store::Enqueued> WriteRows(pg::Session& session,
                                          absl::Span<const std::unique_ptr<PendingEnqueue>> calls,
                                          absl::Span<const store::TaskRow> rows,
                                          const store::HandOff* hand_off, bool packs);

// Adds what may have become ready by a commit of this call whose answer was lost: all of it.
void Suspect(const PendingEnqueue& call, store::Enqueued& suspected);

// The answer to one call after the commit that it was part of. Asks the database when a key or a
// request id was known before. ABORTED (TRANSACTION_CONFLICT) when what was known is gone
// meanwhile: write the call again.
absl::StatusOr<std::vector<EnqueueResult>> AnswerEnqueue(pg::Session& session,
                                                         const PendingEnqueue& call,
                                                         const store::Enqueued& written);

}  // namespace skiplane::broker
