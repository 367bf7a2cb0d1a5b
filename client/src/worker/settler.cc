#include "client/src/worker/settler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/src/worker/ack_item.h"
#include "client/src/worker/nack_item.h"

namespace skiplane::internal {
namespace {

constexpr size_t kAcksPerCall = 1000;
constexpr size_t kNacksPerCall = 50;  // of 64 KiB text each, they fit a request of 4 MiB
constexpr size_t kAckBytesPerCall = size_t{7} << 19;  // 4 MiB but for what is not counted
constexpr size_t kFollowUpsPerCall = 1000;
constexpr absl::Duration kPauseAfterError = absl::Seconds(1);

}  // namespace

Settler::Settler(Client client, Holdings& holdings, Tally& tally)
    : client_(std::move(client)),
      holdings_(holdings),
      tally_(tally),
      thread_([this] { Loop(); }) {}

void Settler::Add(HoldPtr hold, Result result) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& queue = result.kind() == Result::Kind::kDone ? acks_ : nacks_;
  queue.push_back({std::move(hold), std::move(result)});
  changed_.notify_all();
}

void Settler::Stop(absl::Duration at_most) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, absl::ToChronoNanoseconds(at_most),
                      [this] { return is_idle_ && acks_.empty() && nacks_.empty(); });
  }
  line_.Cut();
  if (thread_.joinable()) thread_.join();
}

void Settler::Loop() {
  while (true) {
    std::vector<Settlement> batch = TakeBatch();
    if (batch.empty()) return;
    const absl::StatusOr<std::vector<SettleOutcome>> outcomes = Send(batch);
    if (outcomes.ok()) {
      Account(batch, *outcomes);
      continue;
    }
    if (line_.is_cut()) return;
    tally_.Error(outcomes.status());
    const bool is_ack = batch.front().result.kind() == Result::Kind::kDone;
    if (is_ack && IsRefusal(outcomes.status())) {
      TakeBack(std::move(batch), outcomes.status());
      continue;
    }
    PutBack(std::move(batch));
    line_.Pause(kPauseAfterError);
  }
}

std::vector<Settler::Settlement> Settler::TakeBatch() {
  std::unique_lock<std::mutex> lock(mutex_);
  is_idle_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return is_stopping_ || !acks_.empty() || !nacks_.empty(); });
  is_idle_ = false;
  std::deque<Settlement>& queue = acks_.size() >= nacks_.size() ? acks_ : nacks_;
  const auto end = queue.begin() + (&queue == &acks_ ? AcksThatFit() : NacksThatFit());
  std::vector<Settlement> batch(std::make_move_iterator(queue.begin()),
                                std::make_move_iterator(end));
  queue.erase(queue.begin(), end);
  if (batch.empty()) is_idle_ = true;
  return batch;
}

ptrdiff_t Settler::AcksThatFit() const {
  size_t count = 0;
  size_t bytes = 0;
  size_t follow_ups = 0;
  for (const Settlement& settlement : acks_) {
    bytes += BytesOf(settlement.result);
    follow_ups += settlement.result.more().follow_ups.size();
    const bool fits = count < kAcksPerCall && bytes <= kAckBytesPerCall &&
                      follow_ups <= kFollowUpsPerCall && !settlement.is_alone;
    if (count > 0 && !fits) break;
    ++count;
    if (settlement.is_alone) break;
  }
  return static_cast<ptrdiff_t>(count);
}

ptrdiff_t Settler::NacksThatFit() const {
  return static_cast<ptrdiff_t>(std::min(nacks_.size(), kNacksPerCall));
}

absl::StatusOr<std::vector<SettleOutcome>> Settler::Send(const std::vector<Settlement>& batch) {
  if (batch.front().result.kind() == Result::Kind::kDone) {
    std::vector<AckItem> items;
    for (const Settlement& settlement : batch) {
      items.push_back(ToAckItem(settlement.hold->task(), settlement.result));
    }
    return line_.Run<std::vector<SettleOutcome>>([&](auto done) {
      return client_.AckAsync(std::move(items), std::move(done));
    });
  }
  std::vector<NackItem> items;
  for (const Settlement& settlement : batch) {
    items.push_back(ToNackItem(settlement.hold->task(), settlement.result));
  }
  const auto results = line_.Run<std::vector<NackResult>>([&](auto done) {
    return client_.NackAsync(std::move(items), std::move(done));
  });
  if (!results.ok()) return results.status();
  std::vector<SettleOutcome> outcomes;
  for (const NackResult& result : *results) outcomes.push_back(result.outcome);
  return outcomes;
}

void Settler::Account(const std::vector<Settlement>& batch,
                      const std::vector<SettleOutcome>& outcomes) {
  for (size_t i = 0; i < batch.size(); ++i) {
    const bool settled = outcomes[i] == SettleOutcome::kDone ||
                         outcomes[i] == SettleOutcome::kAlreadySettled;
    if (settled) {
      tally_.Settled(batch[i].result.kind());
    } else {
      tally_.Lost();
    }
    holdings_.Remove(batch[i].hold);
  }
}

void Settler::PutBack(std::vector<Settlement> batch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& queue = batch.front().result.kind() == Result::Kind::kDone ? acks_ : nacks_;
  queue.insert(queue.begin(), std::make_move_iterator(batch.begin()),
               std::make_move_iterator(batch.end()));
}

void Settler::TakeBack(std::vector<Settlement> batch, const absl::Status& refusal) {
  if (batch.size() > 1) {
    for (Settlement& settlement : batch) settlement.is_alone = true;
  } else {
    batch.front().result = FromRefusal(refusal);
  }
  PutBack(std::move(batch));
}

}  // namespace skiplane::internal
