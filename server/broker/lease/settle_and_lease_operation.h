// An Ack or Settle that asks for the next lease: joins the answers of both halves. The lease is
// begun once: in the transaction that settles, else after it. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/broker/api/broker.h"
#include "server/broker/queues/queue_cache.h"

namespace skiplane::broker {

class SettleAndLeaseOperation : public PendingLease {
 public:
  // Gets leases that came after the call had been answered.
  using HandBack = std::function<void(const LeaseAnswer&)>;

  SettleAndLeaseOperation(LeaseCall call, Callback<SettleAndLeaseAnswer> done, HandBack hand_back);

  // The queues of the call, in its order; once, before its items are settled.
  void SetQueues(std::vector<QueuePtr> queues) { queues_ = std::move(queues); }
  const std::vector<QueuePtr>& queues() const { return queues_; }

  // What to lease; its wait is what is left of the one that was asked for.
  LeaseCall Call() const;

  // Whether it may come again, to find what it leased before.
  bool IsRepeatable() const { return !call_.request_id.empty(); }

  // Whether the lease may begin in the transaction that settles: only once, so that what made a
  // transaction fail is not tried again in the next one.
  bool TryReserve();
  // That transaction was rolled back, or had nothing for it. Returns whether the lease must be
  // begun now, as the items are settled.
  bool Declined();

  // The items are settled, or the call failed. Returns whether the lease must be begun now.
  bool Settled(absl::StatusOr<std::vector<model::SettleResult>> results);

  // The lease is on its way; it may have been cancelled meanwhile.
  void Become(std::shared_ptr<PendingLease> lease);
  void Leased(absl::StatusOr<LeaseAnswer> answer);

  void Cancel() override;

  // The call was refused before anything was done.
  void Refuse(const absl::Status& status);

 private:
  // Both halves are there, or the first one failed: the answer to be given without the lock.
  absl::StatusOr<SettleAndLeaseAnswer> Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const LeaseCall call_;
  const base::SteadyTime began_ = std::chrono::steady_clock::now();
  const HandBack hand_back_;
  std::vector<QueuePtr> queues_;

  base::Mutex mutex_;
  Callback<SettleAndLeaseAnswer> done_ ABSL_GUARDED_BY(mutex_);
  bool was_reserved_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_leasing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<PendingLease> lease_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::vector<model::SettleResult>> results_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::StatusOr<LeaseAnswer>> leased_ ABSL_GUARDED_BY(mutex_);
};

using SettleAndLeasePtr = std::shared_ptr<SettleAndLeaseOperation>;

}  // namespace skiplane::broker
