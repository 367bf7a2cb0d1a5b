#include "server/broker/lease/settle_and_lease_operation.h"

#include <algorithm>
#include <utility>

namespace skiplane::broker {

SettleAndLeaseOperation::SettleAndLeaseOperation(LeaseCall call,
                                                 Callback<SettleAndLeaseAnswer> done,
                                                 HandBack hand_back)
    : call_(std::move(call)), hand_back_(std::move(hand_back)), done_(std::move(done)) {}

LeaseCall SettleAndLeaseOperation::Call() const {
  LeaseCall call = call_;
  const auto waited = absl::FromChrono(std::chrono::steady_clock::now() - began_);
  if (call.wait > absl::ZeroDuration()) {
    call.wait = std::max(call.wait - waited, absl::Milliseconds(1));
  }
  return call;
}

bool SettleAndLeaseOperation::TryReserve() {
  base::MutexLock lock(mutex_);
  if (was_reserved_ || is_leasing_ || is_cancelled_) return false;
  was_reserved_ = true;
  is_leasing_ = true;
  return true;
}

bool SettleAndLeaseOperation::Declined() {
  Callback<SettleAndLeaseAnswer> done;
  absl::StatusOr<SettleAndLeaseAnswer> answer;
  {
    base::MutexLock lock(mutex_);
    is_leasing_ = false;
    if (!results_.has_value() || done_ == nullptr) return false;
    if (!is_cancelled_) {
      is_leasing_ = true;
      return true;
    }
    answer = Take();
    done = std::exchange(done_, nullptr);
  }
  done(std::move(answer));
  return false;
}

bool SettleAndLeaseOperation::Settled(absl::StatusOr<std::vector<model::SettleResult>> results) {
  Callback<SettleAndLeaseAnswer> done;
  absl::StatusOr<SettleAndLeaseAnswer> answer;
  {
    base::MutexLock lock(mutex_);
    if (!results.ok()) {
      answer = results.status();
    } else {
      results_ = *std::move(results);
      if (!is_leasing_ && !is_cancelled_) {
        is_leasing_ = true;
        return true;
      }
      if (is_leasing_ && !leased_.has_value()) return false;
      answer = Take();
    }
    done = std::exchange(done_, nullptr);
  }
  done(std::move(answer));
  return false;
}

void SettleAndLeaseOperation::Become(std::shared_ptr<PendingLease> lease) {
  bool cancel = false;
  {
    base::MutexLock lock(mutex_);
    if (done_ == nullptr || leased_.has_value()) return;
    lease_ = lease;
    cancel = is_cancelled_;
  }
  if (cancel) lease->Cancel();
}

// What nobody waits for any more goes back, unless a repeat may ask for it.
void SettleAndLeaseOperation::Leased(absl::StatusOr<LeaseAnswer> answer) {
  Callback<SettleAndLeaseAnswer> done;
  absl::StatusOr<SettleAndLeaseAnswer> both;
  LeaseAnswer orphans;
  {
    base::MutexLock lock(mutex_);
    lease_ = nullptr;  // it holds this object
    const bool is_unwanted = done_ == nullptr || is_cancelled_;
    if (is_unwanted && answer.ok() && call_.request_id.empty()) {
      orphans = std::exchange(*answer, LeaseAnswer());
    }
    if (done_ != nullptr) leased_ = std::move(answer);
    if (done_ != nullptr && results_.has_value()) {
      both = Take();
      done = std::exchange(done_, nullptr);
    }
  }
  if (!orphans.tasks.empty()) hand_back_(orphans);
  if (done != nullptr) done(std::move(both));
}

void SettleAndLeaseOperation::Cancel() {
  std::shared_ptr<PendingLease> lease;
  {
    base::MutexLock lock(mutex_);
    is_cancelled_ = true;
    lease = lease_;
  }
  if (lease != nullptr) lease->Cancel();
}

void SettleAndLeaseOperation::Refuse(const absl::Status& status) {
  static_cast<void>(Settled(status));
}

absl::StatusOr<SettleAndLeaseAnswer> SettleAndLeaseOperation::Take() {
  SettleAndLeaseAnswer both;
  both.results = *std::move(results_);
  if (!leased_.has_value()) return both;  // nobody waits for it any more
  if (leased_->ok()) {
    both.lease = **std::move(leased_);
  } else {
    both.lease_refusal = leased_->status();
  }
  return both;
}

}  // namespace skiplane::broker
