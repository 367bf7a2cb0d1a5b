#include "client/src/worker/fetcher.h"

#include <utility>

#include "absl/time/clock.h"
#include "client/src/random_id.h"

namespace skiplane::internal {
namespace {

constexpr absl::Duration kPauseAfterError = absl::Seconds(1);
// An empty answer that comes sooner (queues paused, a broker that drains) has the next call wait.
constexpr absl::Duration kEmptyAnswerPause = absl::Seconds(1);
constexpr absl::Duration kRestTimeout = absl::Seconds(2);

}  // namespace

Fetcher::Fetcher(Client client, LeaseCall call, Holdings& holdings, Tally& tally)
    : client_(std::move(client)),
      call_(std::move(call)),
      holdings_(holdings),
      tally_(tally),
      thread_([this] { Loop(); }) {}

void Fetcher::Stop() {
  line_.Cut();
  if (thread_.joinable()) thread_.join();
}

void Fetcher::Loop() {
  call_.request_id = RandomId();
  while (true) {
    const int room = holdings_.WaitForRoom();
    if (room == 0) return;
    const bool answered = Ask(room);
    if (answered) call_.request_id = RandomId();
    if (!line_.is_cut()) continue;
    if (!answered) AskForRest(room);
    return;
  }
}

bool Fetcher::Ask(int max_tasks) {
  call_.max_tasks = max_tasks;
  const absl::Time begin = absl::Now();
  auto answer = line_.Run<LeaseAnswer>(
      [&](auto done) { return client_.LeaseAsync(call_, std::move(done)); });
  if (!answer.ok()) {
    if (line_.is_cut()) return false;
    tally_.Error(answer.status());
    line_.Pause(kPauseAfterError);
    return false;
  }
  if (answer->tasks.empty()) line_.Pause(kEmptyAnswerPause - (absl::Now() - begin));
  holdings_.Add(std::move(answer->tasks));
  return true;
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
