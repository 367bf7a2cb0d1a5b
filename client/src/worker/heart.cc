#include "client/src/worker/heart.h"

#include <chrono>
#include <utility>

namespace skiplane::internal {

Heart::Heart(Client client, std::string worker_id, absl::Duration lease_duration,
             const std::atomic<bool>& is_needed, Command& command, Holdings& holdings,
             Tally& tally)
    : client_(std::move(client)),
      worker_id_(std::move(worker_id)),
      lease_duration_(lease_duration),
      is_needed_(is_needed),
      command_(command),
      holdings_(holdings),
      tally_(tally),
      thread_([this] { Loop(); }) {}

void Heart::Stop() {
  line_.Cut();
  if (thread_.joinable()) thread_.join();
}

void Heart::Loop() {
  const absl::Duration interval = lease_duration_ / 3;
  absl::Duration rest = interval;
  while (true) {
    line_.Pause(rest);
    if (line_.is_cut()) return;
    // Not by the machine's clock: a step back of it would delay a heartbeat beyond the lease.
    const auto begin = std::chrono::steady_clock::now();
    Heartbeat();
    rest = interval - absl::FromChrono(std::chrono::steady_clock::now() - begin);
  }
}

// A worker on a stream may hold more than one call names, and has it still when the stream is gone.
// A quiet one leases nothing: only a heartbeat keeps its session, and tells it when to go on.
void Heart::Heartbeat() {
  const std::vector<HoldPtr> holds = holdings_.All();
  if (!is_needed_) return;
  if (holds.empty() && holdings_.IsQuiet()) Renew({});
  for (size_t i = 0; i < holds.size() && !line_.is_cut(); i += kHeartbeatLeasesMax) {
    Renew(absl::MakeConstSpan(holds).subspan(i, kHeartbeatLeasesMax));
  }
}

void Heart::Renew(absl::Span<const HoldPtr> holds) {
  HeartbeatCall call{
      .worker_id = worker_id_, .lease_duration = lease_duration_, .timeout = lease_duration_ / 3};
  for (const HoldPtr& hold : holds) call.leases.push_back(hold->Heartbeat());
  const auto answer = line_.Run<HeartbeatAnswer>(
      [&](auto done) { return client_.HeartbeatAsync(std::move(call), std::move(done)); });
  if (!answer.ok()) {
    if (!line_.is_cut()) tally_.Error(answer.status());
    return;
  }
  command_.Heard(answer->command);
  for (size_t i = 0; i < holds.size(); ++i) {
    const bool is_answered = answer->session_alive && i < answer->states.size();
    const LeaseState state = is_answered ? answer->states[i] : LeaseState::kLost;
    if (state == LeaseState::kLost) Lose(holds[i]);
    if (state == LeaseState::kCancelRequested) holds[i]->RequestStop();
  }
}

void Heart::Lose(const HoldPtr& hold) {
  // False for a result that is being sent: a settled lease is over as well, and what the broker
  // says to the ack counts.
  if (!hold->Lose()) return;
  tally_.Ended(hold->task(), AttemptEnd::kLost);
  holdings_.Remove(hold);
}

}  // namespace skiplane::internal
