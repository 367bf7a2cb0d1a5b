#include "server/broker/lease/next_lease.h"

#include <algorithm>
#include <utility>

namespace skiplane::broker {

NextLease::NextLease(LeaseCall call, Done<AckAndLeaseAnswer> done, HandBack hand_back)
    : call_(std::move(call)), hand_back_(std::move(hand_back)), done_(std::move(done)) {}

LeaseCall NextLease::Call() const {
  LeaseCall call = call_;
  const auto waited = absl::FromChrono(std::chrono::steady_clock::now() - began_);
  if (call.wait > absl::ZeroDuration()) {
    call.wait = std::max(call.wait - waited, absl::Milliseconds(1));
  }
  return call;
}

bool NextLease::TakeUpWithin() {
  base::MutexLock lock(mutex_);
  if (tried_within_ || is_leasing_ || is_cancelled_) return false;
  tried_within_ = true;
  is_leasing_ = true;
  return true;
}

void NextLease::PutBack() {
  base::MutexLock lock(mutex_);
  is_leasing_ = false;
  lease_ = nullptr;
}

bool NextLease::Acked(absl::StatusOr<std::vector<model::AckResult>> results) {
  Done<AckAndLeaseAnswer> done;
  absl::StatusOr<AckAndLeaseAnswer> answer;
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

void NextLease::Become(std::shared_ptr<PendingLease> lease) {
  bool cancel = false;
  {
    base::MutexLock lock(mutex_);
    if (done_ == nullptr || leased_.has_value()) return;
    lease_ = lease;
    cancel = is_cancelled_;
  }
  if (cancel) lease->Cancel();
}

void NextLease::Leased(absl::StatusOr<LeaseAnswer> answer) {
  Done<AckAndLeaseAnswer> done;
  absl::StatusOr<AckAndLeaseAnswer> both;
  bool is_late = false;
  {
    base::MutexLock lock(mutex_);
    lease_ = nullptr;  // it holds this object
    is_late = done_ == nullptr;
    if (!is_late) {
      leased_ = std::move(answer);
      if (!results_.has_value()) return;
      both = Take();
      done = std::exchange(done_, nullptr);
    }
  }
  if (!is_late) {
    done(std::move(both));
  } else if (answer.ok() && call_.request_id.empty()) {
    hand_back_(*answer);
  }
}

void NextLease::Cancel() {
  std::shared_ptr<PendingLease> lease;
  {
    base::MutexLock lock(mutex_);
    is_cancelled_ = true;
    lease = lease_;
  }
  if (lease != nullptr) lease->Cancel();
}

void NextLease::Refuse(const absl::Status& status) { static_cast<void>(Acked(status)); }

absl::StatusOr<AckAndLeaseAnswer> NextLease::Take() {
  AckAndLeaseAnswer both;
  both.results = *std::move(results_);
  if (leased_.has_value() && leased_->ok()) both.lease = **std::move(leased_);
  return both;
}

}  // namespace skiplane::broker
