#include "client/src/worker/fetcher.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "client/src/random_id.h"

namespace skiplane::internal {
namespace {

constexpr absl::Duration kPauseAfterError = absl::Seconds(1);
// An empty answer that comes sooner (queues paused, a broker that drains) has the next call wait.
constexpr absl::Duration kEmptyAnswerPause = absl::Seconds(1);
constexpr absl::Duration kBurstInterval = absl::Seconds(1);
constexpr absl::Duration kRestTimeout = absl::Seconds(2);

}  // namespace

Fetcher::Fetcher(Client client, LeaseCall call, FetchLimits limits, Command& command,
                 Holdings& holdings, Tally& tally)
    : client_(std::move(client)),
      call_(std::move(call)),
      limits_(std::move(limits)),
      command_(command),
      holdings_(holdings),
      tally_(tally),
      thread_([this] { Loop(); }) {}

void Fetcher::Stop() {
  line_.Cut();
  if (thread_.joinable()) thread_.join();
}

absl::Status Fetcher::WaitForEnd() {
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return end_.has_value(); });
  return *end_;
}

void Fetcher::End(absl::Status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  end_ = std::move(status);
  ended_.notify_all();
}

void Fetcher::Loop() {
  call_.request_id = RandomId();
  while (const int room = WaitForRoom()) {
    const bool was_empty = holdings_.IsEmpty();
    const uint64_t freed = holdings_.freed();
    const absl::Time begin = absl::Now();
    const absl::StatusOr<size_t> count = Ask(room);
    if (line_.is_cut()) {
      if (!count.ok()) AskForRest(room);
      break;
    }
    if (count.ok() && Leaves()) return;
    if (count.ok() && *count > 0) continue;
    if (limits_.burst && was_empty) return End(count.status());
    if (!count.ok()) tally_.Error(count.status());
    Pause(count, begin, freed);
  }
  End(holdings_.WaitUntilEmpty(limits_.max_tasks) ? absl::OkStatus()
                                                  : absl::CancelledError("the worker was stopped"));
}

// Never while an answer may have got lost: only a repeat of that call finds its tasks.
bool Fetcher::Leaves() {
  if (!limits_.leave || std::chrono::steady_clock::now() < limits_.leave_at) return false;
  limits_.leave();
  return true;
}

int Fetcher::WaitForRoom() {
  if (limits_.max_tasks == 0) return holdings_.WaitForRoom();
  const int64_t rest = limits_.max_tasks - holdings_.taken();
  if (rest <= 0) return 0;
  return static_cast<int>(std::min<int64_t>(rest, holdings_.WaitForRoom()));
}

absl::StatusOr<size_t> Fetcher::Ask(int max_tasks) {
  call_.max_tasks = max_tasks;
  auto answer = line_.Run<LeaseAnswer>(
      [&](auto done) { return client_.LeaseAsync(call_, std::move(done)); });
  if (!answer.ok()) return answer.status();
  call_.request_id = RandomId();
  command_.HeardByLease(answer->command);
  const size_t count = answer->tasks.size();
  holdings_.Add(std::move(answer->tasks));
  return count;
}

void Fetcher::Pause(const absl::StatusOr<size_t>& count, absl::Time begin, uint64_t freed) {
  const absl::Duration denial_pause = denial_pause_.After(count.status());
  if (!count.ok()) {
    line_.Pause(std::max(denial_pause, kPauseAfterError));
  } else if (limits_.burst) {
    // An attempt that ends may have made tasks, and some may come from elsewhere.
    holdings_.WaitForMore(freed, kBurstInterval);
  } else {
    line_.Pause(kEmptyAnswerPause - (absl::Now() - begin));
  }
}

void Fetcher::AskForRest(int max_tasks) {
  LeaseCall call = call_;
  call.max_tasks = max_tasks;
  call.wait = absl::ZeroDuration();
  call.timeout = kRestTimeout;
  auto answer = client_.Lease(std::move(call));
  if (answer.ok()) holdings_.Add(std::move(answer->tasks));
}

}  // namespace skiplane::internal
