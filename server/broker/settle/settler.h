// Acks, nacks and releases: gathers concurrent calls per lane into few statements and answers each
// call item by item. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/broker/api/calls.h"
#include "server/broker/batch/batcher.h"
#include "server/broker/batch/context.h"
#include "server/broker/enqueue/enqueuer.h"
#include "server/broker/lease/dispatcher.h"
#include "server/broker/lease/lease_tracker.h"
#include "server/broker/queues/queue_cache.h"
#include "server/broker/settle/settle_batch.h"
#include "server/broker/settle/settle_call.h"
#include "server/store/enqueue.h"

namespace skiplane::broker {

class Settler {
 public:
  // Told of tasks that wait again, before the callers are.
  using OnCommit = std::function<void(const std::vector<store::UnleasedTasks>&, absl::Time now)>;

  // `enqueuer` makes the follow-ups of acks, `dispatcher` the next leases.
  Settler(Context& context, QueueCache& queues, LeaseTracker& tracker, Enqueuer& enqueuer,
          Dispatcher& dispatcher, OnCommit on_commit)
      : context_(context),
        queues_(queues),
        tracker_(tracker),
        enqueuer_(enqueuer),
        dispatcher_(dispatcher),
        on_commit_(std::move(on_commit)) {}

  // `next`, if any, is begun in the same commit if that can be; else the caller begins it.
  // `party`: as in LeaseCall.
  void Settle(std::vector<model::SettleItem> items, const std::string& party,
              SettleAndLeasePtr next, Callback<std::vector<model::SettleResult>> done);

  // Hands leases back, uncharged. Nobody waits for it; what cannot be handed back ends with its
  // session.
  void Release(std::vector<model::LeaseToken> tokens);

 private:
  using LaneBatcher = Batcher<SettlePart>;

  void Submit(std::shared_ptr<SettleCall> call);
  // ack_continuation.cc: acks that say what follows the attempt.
  void PrepareContinuations(std::shared_ptr<SettleCall> call, size_t first = 0);
  // Whether the item was looked at to its end before the turn was over.
  absl::StatusOr<bool> CheckContinuation(pg::Session& session, SettleItem& item,
                                         base::SteadyTime turn_ends);
  // Decides the item: its lease is over, or else it is refused.
  absl::Status RefuseUnlessOver(pg::Session& session, SettleItem& item, const absl::Status& why);
  absl::Status RunInTransaction(pg::Session& session, SettleBatch& batch,
                                const std::vector<SettleItem*>& items,
                                const std::vector<SettlePart>& parts,
                                std::vector<Reservation>& reservations);
  void WithdrawRepeats(const std::vector<SettlePart>& parts,
                       std::vector<Reservation>& reservations);
  absl::Status WriteFollowUps(pg::Session& session, const std::vector<SettleItem*>& items,
                              Enqueuer::Uncommitted* written);
  absl::Status RecallFollowUps(pg::Session& session, SettleItem& item);
  LaneBatcher& BatcherOf(int64_t lane);
  void Run(int64_t lane, absl::StatusOr<pg::Session*> session, std::vector<SettlePart> parts);
  void RunEach(int64_t lane, std::vector<SettlePart> parts);
  void Repeat(int64_t lane, std::vector<SettlePart> parts);

  Context& context_;
  QueueCache& queues_;
  LeaseTracker& tracker_;
  Enqueuer& enqueuer_;
  Dispatcher& dispatcher_;
  const OnCommit on_commit_;
  base::Mutex mutex_;
  absl::flat_hash_map<int64_t, std::unique_ptr<LaneBatcher>> batchers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
