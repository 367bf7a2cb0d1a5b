// Makes the steps of bulk operations: each looks at up to a few thousand tasks and changes those
// that match, in a transaction of its own that also notes how far it came. Between two steps it
// rests twice as long as the step took, so that it never takes more than a third of one connection.
//
// An operation whose broker ended is taken over by another one. Thread-safe.
#pragma once

#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/broker/api/operator_calls.h"
#include "server/broker/batch/context.h"
#include "server/broker/operate/bulk_waiters.h"
#include "server/broker/queues/queue_cache.h"
#include "server/store/bulk.h"

namespace skiplane::broker {

class BulkRunner {
 public:
  using OnCommit = std::function<void(const std::vector<store::UnleasedTasks>&, absl::Time now)>;

  BulkRunner(Context& context, QueueCache& queues, OnCommit on_commit)
      : context_(context), queues_(queues), on_commit_(std::move(on_commit)), waiters_(context) {}

  // Takes operations over, now and then, until the timer stops.
  void Watch();

  void Start(StartBulkCall call, Callback<model::BulkOperation> done);
  // Answers when the operation has ended, or when the wait is over.
  void Get(const GetBulkCall& call, Callback<model::BulkOperation> done);
  void Stop(StopBulkCall call, Callback<model::BulkOperation> done);

  // From now on Get does not wait.
  void EndWaits() { waiters_.End(); }

 private:
  // By this call, or by an earlier one with the same request id.
  struct Begun {
    model::SessionId id{};
    bool has_steps = false;
  };

  absl::StatusOr<Begun> Create(pg::Session& session, const StartBulkCall& call);
  void SubmitStep(const model::SessionId& id);
  // Whether there is another step to be made.
  absl::StatusOr<bool> RunStep(pg::Session& session, const model::SessionId& id);
  absl::StatusOr<store::BulkProgress> Work(pg::Session& session, store::BulkCursor& cursor,
                                           store::Changes* changes);

  Context& context_;
  QueueCache& queues_;
  const OnCommit on_commit_;
  BulkWaiters waiters_;
};

}  // namespace skiplane::broker
