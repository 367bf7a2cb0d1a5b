#include "client/src/worker/settler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/src/access.h"
#include "client/src/worker/ack_item.h"
#include "client/src/worker/nack_item.h"
#include "client/src/worker/settlement.h"

namespace skiplane::internal {
namespace {

constexpr size_t kItemsPerCall = 1000;
constexpr size_t kBytesPerCall = size_t{7} << 19;  // 4 MiB but for what is not counted
constexpr size_t kFollowUpsPerCall = 1000;
constexpr absl::Duration kPauseAfterError = absl::Seconds(1);

}  // namespace

Settler::Settler(Client client, Holdings& holdings, Tally& tally)
    : client_(std::move(client)),
      has_codec_(Access::ConnectionOf(client_)->options().codec != nullptr),
      holdings_(holdings),
      tally_(tally),
      thread_([this] { Loop(); }) {}

void Settler::Add(HoldPtr hold, Result result) {
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back({std::move(hold), std::move(result)});
  changed_.notify_all();
}

void Settler::Stop(absl::Duration at_most) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, absl::ToChronoNanoseconds(at_most),
                      [this] { return is_idle_ && queue_.empty(); });
  }
  line_.Cut();
  if (thread_.joinable()) thread_.join();
}

void Settler::Loop() {
  while (true) {
    std::vector<Waiting> batch = TakeBatch();
    if (batch.empty()) return;
    const absl::StatusOr<std::vector<SettleResult>> results = Send(batch);
    if (results.ok()) {
      Account(batch, *results);
      continue;
    }
    if (line_.is_cut()) return;
    tally_.Error(results.status());
    if (IsRefusal(results.status())) {
      TakeBack(std::move(batch), results.status());
      continue;
    }
    PutBack(std::move(batch));
    line_.Pause(kPauseAfterError);
  }
}

std::vector<Settler::Waiting> Settler::TakeBatch() {
  std::unique_lock<std::mutex> lock(mutex_);
  is_idle_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
  is_idle_ = false;
  const auto end = queue_.begin() + ThatFit();
  std::vector<Waiting> batch(std::make_move_iterator(queue_.begin()),
                                std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  if (batch.empty()) is_idle_ = true;
  return batch;
}

ptrdiff_t Settler::ThatFit() const {
  size_t count = 0;
  size_t bytes = 0;
  size_t follow_ups = 0;
  for (const Waiting& settlement : queue_) {
    bytes += BytesOf(settlement.result);
    follow_ups += settlement.result.more().follow_ups.size();
    const bool fits = count < kItemsPerCall && bytes <= kBytesPerCall &&
                      follow_ups <= kFollowUpsPerCall && !settlement.is_alone;
    if (count > 0 && !fits) break;
    ++count;
    if (settlement.is_alone) break;
  }
  return static_cast<ptrdiff_t>(count);
}

absl::StatusOr<std::vector<SettleResult>> Settler::Send(const std::vector<Waiting>& batch) {
  std::vector<SettleItem> items;
  for (const auto& [hold, result, is_alone] : batch) {
    if (result.kind() == Result::Kind::kDone) {
      items.emplace_back(ToAckItem(hold->task(), result, has_codec_));
    } else {
      items.emplace_back(ToNackItem(hold->task(), result));
    }
  }
  return line_.Run<std::vector<SettleResult>>([&](auto done) {
    return client_.SettleAsync(std::move(items), std::move(done));
  });
}

void Settler::Account(std::vector<Waiting>& batch, const std::vector<SettleResult>& results) {
  for (size_t i = 0; i < batch.size(); ++i) {
    if (results[i].outcome == SettleOutcome::kRefused) {
      tally_.Error(results[i].refusal);
      Refused(std::move(batch[i]), results[i].refusal);
    } else {
      End(batch[i], EndOf(batch[i].result.kind(), results[i]));
    }
  }
}

void Settler::End(const Waiting& settlement, AttemptEnd end) {
  tally_.Ended(settlement.hold->task(), end);
  holdings_.Remove(settlement.hold);
}

void Settler::Refused(Waiting settlement, const absl::Status& refusal) {
  if (settlement.result.kind() == Result::Kind::kDone) {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back({std::move(settlement.hold), FromRefusal(refusal)});
    return;
  }
  End(settlement, AttemptEnd::kLost);
}

void Settler::PutBack(std::vector<Waiting> batch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.insert(queue_.begin(), std::make_move_iterator(batch.begin()),
                std::make_move_iterator(batch.end()));
}

void Settler::TakeBack(std::vector<Waiting> batch, const absl::Status& refusal) {
  if (batch.size() == 1) {
    Refused(std::move(batch.front()), refusal);
    return;
  }
  for (Waiting& settlement : batch) settlement.is_alone = true;
  PutBack(std::move(batch));
}

}  // namespace skiplane::internal
