// Queues as operators make, change and see them. Each call is one job of the pool, in turn.
// Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/broker/api/calls.h"
#include "server/broker/batch/answer_memory.h"
#include "server/broker/batch/context.h"
#include "server/broker/queues/peer_notifier.h"
#include "server/broker/queues/queue_cache.h"

namespace skiplane::broker {

class QueueAdmin {
 public:
  QueueAdmin(Context& context, QueueCache& queues, NewQueues& new_queues, PeerNotifier& notifier,
             AnswerMemory& lists)
      : context_(context),
        queues_(queues),
        new_queues_(new_queues),
        notifier_(notifier),
        lists_(lists) {}

  void Create(CreateQueueCall call, Callback<model::Queue> done);
  void Get(GetQueueCall call, Callback<QueueWithCounts> done);
  void List(ListQueuesCall call, Callback<model::Page<model::Queue>> done);
  void Update(UpdateQueueCall call, Callback<model::Queue> done);
  void Pause(PauseQueueCall call, Callback<model::Queue> done);

 private:
  absl::StatusOr<QueueWithCounts> RunGet(pg::Session& session, const std::string& name);
  absl::StatusOr<model::Queue> Changed(pg::Session& session, const std::string& name);

  Context& context_;
  QueueCache& queues_;
  NewQueues& new_queues_;
  PeerNotifier& notifier_;
  AnswerMemory& lists_;
};

}  // namespace skiplane::broker
