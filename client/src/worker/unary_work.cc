#include "client/src/worker/unary_work.h"

#include <chrono>
#include <utility>

namespace skiplane::internal {
namespace {

constexpr std::chrono::minutes kUntilNextTry{5};

}  // namespace

UnaryWork::UnaryWork(Client client, LeaseCall call, FetchLimits limits, Link& link,
                     Command& command, Holdings& holdings, Tally& tally)
    : client_(std::move(client)),
      call_(std::move(call)),
      limits_(std::move(limits)),
      link_(link),
      command_(command),
      holdings_(holdings),
      tally_(tally) {}

void UnaryWork::Begin() {
  FetchLimits limits = limits_;
  if (!limits.burst) {
    limits.leave_at = std::chrono::steady_clock::now() + kUntilNextTry;
    limits.leave = [this] { link_.Begin(); };
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_stopped_) return;
  if (!heart_) {
    heart_.emplace(client_, call_.worker_id, *call_.lease_duration, link_.is_unary(), command_,
                   holdings_, tally_);
  }
  // One before it has left, and so ends at once.
  fetcher_ = std::make_unique<Fetcher>(client_, call_, std::move(limits), command_, holdings_,
                                       tally_);
}

void UnaryWork::StopFetching() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_stopped_ = true;
  if (fetcher_ != nullptr) fetcher_->Stop();
}

void UnaryWork::StopHeart() {
  if (heart_) heart_->Stop();
}

}  // namespace skiplane::internal
