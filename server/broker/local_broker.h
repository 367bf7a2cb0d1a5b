// The broker of this process: connects the parts with each other, the database and other brokers.
// Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/base/timer.h"
#include "server/broker/api/broker.h"
#include "server/broker/await/peer_awaits.h"
#include "server/broker/await/task_waiters.h"
#include "server/broker/enqueue/enqueuer.h"
#include "server/broker/lease/dispatcher.h"
#include "server/broker/operate/local_operator.h"
#include "server/broker/operate/queue_admin.h"
#include "server/broker/observe/minute_writer.h"
#include "server/broker/observe/queue_watch.h"
#include "server/broker/observe/sampler.h"
#include "server/broker/queues/new_queues.h"
#include "server/broker/queues/peer_notifier.h"
#include "server/broker/queues/queue_cache.h"
#include "server/broker/sessions/lease_looker.h"
#include "server/broker/sessions/session_ender.h"
#include "server/broker/sessions/session_opener.h"
#include "server/broker/sessions/session_renewer.h"
#include "server/broker/sessions/worker_shares.h"
#include "server/broker/settle/settler.h"
#include "server/model/token_key.h"
#include "server/pg/connections/listener.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

struct BrokerOptions {
  pg::ConnectOptions connect;
  int connections = 4;
  bool create_missing_queues = false;
  bool hands_off = true;  // enqueues lease to workers that wait
  int waiting_calls_max = model::kWaitingCallsMax;
  NewQueueLimits new_queues{};
  size_t workers_of_party_max = kWorkersOfPartyMax;
  pg::Uuid id{};     // random
  std::string name;  // for people
  std::string version{};  // of this program
  std::string commit{};
  AwaitTimes await_times{};
  // Gets the keys for lease tokens as they are now, every few seconds; none if they could not be
  // read. Must not block.
  std::function<void(const std::vector<model::TokenKey>&)> on_token_keys = nullptr;
};

class LocalBroker : public Broker {
 public:
  // `on_connected` is told whether the database can be reached, from a thread of the pool; it must
  // not block. `metrics` outlives the object.
  LocalBroker(BrokerOptions options, metrics::Metrics& metrics,
              absl::AnyInvocable<void(bool)> on_connected);
  ~LocalBroker() override;

  void Enqueue(EnqueueCall call, Callback<std::vector<EnqueueResult>> done) override;
  std::shared_ptr<PendingLease> Lease(LeaseCall call, Callback<LeaseAnswer> done) override;
  void Settle(std::vector<model::SettleItem> items, const std::string& party,
              Callback<std::vector<model::SettleResult>> done) override;
  std::shared_ptr<PendingLease> SettleAndLease(SettleAndLeaseCall call,
                                               Callback<SettleAndLeaseAnswer> done) override;
  void Heartbeat(HeartbeatCall call, Callback<HeartbeatAnswer> done) override;
  void OpenSession(OpenSessionCall call, Callback<OpenSessionAnswer> done) override;
  void LookAtLeases(std::vector<model::LeaseToken> leases,
                    Callback<std::vector<model::LeaseState>> done) override {
    looker_.Look(std::move(leases), std::move(done));
  }
  void WhenLeasesAreTaken(LeasesTaken taken) override { looker_.WhenTaken(std::move(taken)); }
  void WhenSessionsAreGone(SessionsGone gone) override { looker_.WhenGone(std::move(gone)); }
  void HandBack(const LeaseAnswer& undelivered) override;
  void CreateQueue(CreateQueueCall call, Callback<model::Queue> done) override;
  void GetQueue(GetQueueCall call, Callback<QueueWithCounts> done) override;
  void ListQueues(ListQueuesCall call, Callback<model::Page<model::Queue>> done) override;
  void UpdateQueue(UpdateQueueCall call, Callback<model::Queue> done) override;
  void PauseQueue(PauseQueueCall call, Callback<model::Queue> done) override;
  Operator& AsOperator() override { return operator_; }
  void BeginDrain() override;
  void EndLeaseWaits() override { dispatcher_.EndWaits(); }

  // Finishes what was begun and ends all threads. Idempotent; no calls after it.
  void Stop();

  // See pg::Pool.
  void EndConnectionsWithin(absl::Duration rest) { pool_.EndWithin(rest); }

 private:
  void OnTasksUnleased(const std::vector<store::UnleasedTasks>& unleased, absl::Time now);
  Settler::OnCommit OnCommit();
  absl::Status TakeWorker(const LeaseCall& call, const model::Queue& first);
  void RenewSoon(const LeaseCall& call, const model::Queue& first);
  void OnNotification(absl::string_view payload);
  void RenewRow();
  void KeepRenewing();
  void RefreshQueues();
  void OnQueueGone(const QueuePtr& queue);
  void RefreshTokenKeys();
  void KeepRefreshing();

  const BrokerOptions options_;
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> has_token_keys_ = true;   // they could be read the last time
  std::atomic<bool> has_new_peers_ = false;  // who were not told yet what is awaited here
  std::atomic<bool> has_beaten_ = false;
  base::Timer timer_;
  pg::Pool pool_;
  PoolTurns turns_;
  Context context_;
  SessionCache sessions_;
  WorkerShares worker_shares_;
  LeaseTracker tracker_;
  PeerNotifier notifier_;
  TaskWaiters waiters_;
  PeerAwaits peer_awaits_;
  NewQueues new_queues_;
  QueueCache queues_;
  Dispatcher dispatcher_;
  Enqueuer enqueuer_;
  Settler settler_;
  SessionRenewer renewer_;
  AnswerMemory lists_;
  SessionEnder ender_;
  SessionOpener opener_;
  LeaseLooker looker_;
  QueueWatch queue_watch_;
  MinuteWriter minutes_;
  QueueAdmin admin_;
  LocalOperator operator_;
  Sampler sampler_;
  pg::Listener listener_;
};

}  // namespace skiplane::broker
