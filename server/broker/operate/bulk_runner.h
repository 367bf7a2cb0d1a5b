// Makes the steps of bulk operations: each looks at up to a few thousand tasks and changes those
// that match, in a transaction of its own that also notes how far it came. Between two steps it
// rests twice as long as the step took, so that it never takes more than a third of one connection.
// Queues take turns, however many operations of each run.
//
// An operation whose broker ended is taken over by another one, and one whose step failed is gone
// on with when others are. Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/broker/api/operator_calls.h"
#include "server/broker/batch/context.h"
#include "server/broker/batch/pool_turns.h"
#include "server/broker/operate/bulk_waiters.h"
#include "server/broker/operate/queue_remover.h"
#include "server/broker/queues/queue_cache.h"
#include "server/store/bulk.h"

namespace skiplane::broker {

class BulkRunner {
 public:
  struct Listeners {
    std::function<void(const std::vector<store::UnleasedTasks>&, absl::Time now)> on_commit;
    std::function<void()> on_queues_changed;  // here: others are to be told
  };

  BulkRunner(Context& context, QueueCache& queues, Listeners listeners)
      : context_(context),
        queues_(queues),
        listeners_(std::move(listeners)),
        remover_(queues),
        waiters_(context) {}

  // Takes operations over, now and then, until the timer stops.
  void Watch();

  void Start(StartBulkCall call, Callback<model::BulkOperation> done);
  void DeleteQueue(DeleteQueueCall call, Callback<model::BulkOperation> done);
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
  // Who begins one, and waits for it.
  struct Beginning {
    std::string queue;
    std::string party;
    absl::Duration wait;
    absl::Status if_unread;
    bool is_change = true;
  };

  using Create = std::function<absl::StatusOr<Begun>(pg::Session&)>;

  void Begin(Create create, Beginning beginning, Callback<model::BulkOperation> done);
  absl::StatusOr<Begun> CreateBulk(pg::Session& session, const StartBulkCall& call);
  absl::StatusOr<Begun> CreateDeletion(pg::Session& session, const DeleteQueueCall& call);
  // By what `create` does, which returns the operation's id, or by an earlier call.
  static absl::StatusOr<Begun> BeginOnce(
      pg::Session& session, const model::Origin& origin, const model::SessionId& id,
      absl::FunctionRef<absl::StatusOr<std::string>()> create);
  // Makes the steps of an operation of `queue`, unless that is done here already.
  void Run(const model::SessionId& id, const std::string& queue);
  void SubmitStep(const model::SessionId& id, const std::string& queue);
  absl::StatusOr<BulkNext> RunStep(pg::Session& session, const model::SessionId& id);
  void QueueChanged(pg::Session& session, const std::string& queue);
  absl::StatusOr<BulkNext> ChangeTasks(pg::Session& session, const model::SessionId& id,
                                       store::BulkCursor& cursor, store::Changes* changes);
  absl::StatusOr<store::BulkProgress> Work(pg::Session& session, store::BulkCursor& cursor,
                                           store::Changes* changes);

  Context& context_;
  QueueCache& queues_;
  const Listeners listeners_;
  const QueueRemover remover_;
  BulkWaiters waiters_;
  base::Mutex mutex_;
  absl::flat_hash_set<model::SessionId> running_ ABSL_GUARDED_BY(mutex_);  // here
};

}  // namespace skiplane::broker
