// Ends sessions of workers that stop, and releases what they hold.
//
// A session ends in a commit of its own; then its leases are found through the ledger and released,
// uncharged, in steps of bounded size. Upkeep releases what is leased for it after that, by a
// statement that was under way or a broker that believes it alive, and what a call could not
// release in its time. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "server/broker/api/calls.h"
#include "server/broker/batch/batcher.h"
#include "server/broker/batch/context.h"
#include "server/broker/queues/queue_cache.h"
#include "server/broker/sessions/session_cache.h"
#include "server/store/enqueue.h"

namespace skiplane::broker {

class SessionEnder {
 public:
  // Told of tasks that wait again, before the callers are.
  using OnCommit = std::function<void(const std::vector<store::UnleasedTasks>&, absl::Time now)>;

  // Told of sessions as soon as they have ended, perhaps more than once.
  using OnEnded = std::function<void(const std::vector<pg::Uuid>&)>;

  SessionEnder(Context& context, QueueCache& queues, SessionCache& sessions, OnCommit on_commit,
               OnEnded on_ended);

  // Answered when all is handed back that is known of, or after 10 s.
  void End(HeartbeatCall call, Callback<HeartbeatAnswer> done);

 private:
  struct Pending {
    HeartbeatCall call;
    Callback<HeartbeatAnswer> done;
  };
  struct Ending;

  void Run(absl::StatusOr<pg::Session*> session, std::vector<Pending> ends);
  absl::Status Begin(pg::Session& session, Ending& ending);
  void HandBack(const std::shared_ptr<Ending>& ending, absl::StatusOr<pg::Session*> session);
  absl::StatusOr<bool> Step(pg::Session& session, Ending& ending);
  static void Answer(Ending& ending, const absl::Status& status);

  Context& context_;
  QueueCache& queues_;
  SessionCache& sessions_;
  const OnCommit on_commit_;
  const OnEnded on_ended_;
  Batcher<Pending> batcher_;
};

}  // namespace skiplane::broker
