// A broker without tasks: it counts what reaches it, keeps the last call of each kind and answers
// as told. Leases that wait are parked until they are answered, cancelled or drained. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/base/mutex.h"
#include "server/broker/api/broker.h"
#include "tests/rpc/fake_operator.h"

namespace skiplane::rpc {

class FakeBroker final : public broker::Broker {
 public:
  // Set before the server starts.
  struct Behaviour {
    absl::Status refusal;             // if not OK: every call but a parked Lease gets it at once
    bool answers_cancelled = true;    // as the real one; else a test answers by AnswerParked
    bool answers_at_once = true;      // as the real one, a Lease that may not wait
    bool answers_at_drain = true;     // as the real one
    std::vector<model::SettleResult> settled;
    absl::Status lease_refusal;  // if not OK: items are settled, and then nothing is leased
    broker::HeartbeatAnswer heartbeat;
    std::vector<model::Queue> queues;  // of ListQueues, by name
    broker::QueueWithCounts queue;     // of every other call for a queue
    model::TaskView task;
  };
  Behaviour behaviour;

  FakeOperator operators;

  // The last of each kind. Read when no call is on its way.
  broker::EnqueueCall enqueue;
  broker::LeaseCall lease;
  std::vector<model::SettleItem> settle;
  std::string settle_party;
  broker::HeartbeatCall heartbeat;
  broker::OpenSessionCall open;
  broker::CreateQueueCall create;
  broker::UpdateQueueCall update;
  broker::PauseQueueCall pause;

  int calls() const;
  std::vector<broker::LeaseAnswer> handed_back() const;

  // Return false if that did not happen within a generous time.
  bool WaitForParked(size_t count);
  bool WaitForCancels(int count);
  bool WaitForHandBacks(size_t count);

  // Answers every parked Lease.
  void AnswerParked(const broker::LeaseAnswer& answer);

  void Enqueue(broker::EnqueueCall call,
               broker::Callback<std::vector<broker::EnqueueResult>> done) override;
  void OpenSession(broker::OpenSessionCall call,
                   broker::Callback<broker::OpenSessionAnswer> done) override;
  void LookAtLeases(std::vector<model::LeaseToken> leases,
                    broker::Callback<std::vector<model::LeaseState>> done) override {
    done(std::vector<model::LeaseState>(leases.size(), model::LeaseState::kHeld));
  }
  void WhenLeasesAreTaken(broker::LeasesTaken) override {}
  void WhenSessionsAreGone(broker::SessionsGone) override {}
  std::shared_ptr<broker::PendingLease> Lease(broker::LeaseCall call,
                                              broker::Callback<broker::LeaseAnswer> done) override;
  void Settle(std::vector<model::SettleItem> items, const std::string& party,
              broker::Callback<std::vector<model::SettleResult>> done) override;
  std::shared_ptr<broker::PendingLease> SettleAndLease(
      broker::SettleAndLeaseCall call,
      broker::Callback<broker::SettleAndLeaseAnswer> done) override;
  void Heartbeat(broker::HeartbeatCall call,
                 broker::Callback<broker::HeartbeatAnswer> done) override;
  void HandBack(const broker::LeaseAnswer& undelivered) override;
  void CreateQueue(broker::CreateQueueCall call, broker::Callback<model::Queue> done) override;
  void GetQueue(broker::GetQueueCall call, broker::Callback<broker::QueueWithCounts> done) override;
  void ListQueues(broker::ListQueuesCall call,
                  broker::Callback<model::Page<model::Queue>> done) override;
  void UpdateQueue(broker::UpdateQueueCall call, broker::Callback<model::Queue> done) override;
  void PauseQueue(broker::PauseQueueCall call, broker::Callback<model::Queue> done) override;
  broker::Operator& AsOperator() override;
  void BeginDrain() override;
  void EndLeaseWaits() override { AnswerParked({}); }

 private:
  class Parked;

  void Count();
  bool WaitFor(const std::function<bool()>& condition);
  void Cancelled(Parked* parked);

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  int cancels_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<Parked>> parked_ ABSL_GUARDED_BY(mutex_);
  std::vector<broker::LeaseAnswer> handed_back_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::rpc
