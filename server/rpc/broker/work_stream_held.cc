#include <utility>

#include "server/rpc/broker/work_stream.h"
#include "server/rpc/call/wire_enum.h"

namespace skiplane::rpc {

void WorkStream::Held(const model::LeaseToken& lease, std::string token,
                      model::LeaseState state) {
  if (state == model::LeaseState::kLost) return;
  held_[{lease.task, lease.lease_number}] = {lease, std::move(token), state};
}

void WorkStream::Over(const model::LeaseToken& lease) {
  held_.erase({lease.task, lease.lease_number});
}

// Whose they are is not known: each worker's own are looked at.
void WorkStream::OnLeasesTaken() {
  std::vector<model::LeaseToken> leases;
  Update([&] {
    if (is_ending()) return;
    for (const auto& [key, known] : held_) leases.push_back(known.lease);
    if (!leases.empty()) AddUnanswered(1);
  });
  if (leases.empty()) return;
  broker_.LookAtLeases(leases, [this, leases](
                                   absl::StatusOr<std::vector<model::LeaseState>> states) {
    Update([&] {
      if (states.ok()) Notice(leases, *states);
      AddUnanswered(-1);
    });
  });
}

// Of those that are held still, each state once. What could not be looked at is told by the next
// heartbeat.
void WorkStream::Notice(const std::vector<model::LeaseToken>& leases,
                        const std::vector<model::LeaseState>& states) {
  for (size_t i = 0; i < leases.size(); ++i) {
    const auto found = held_.find({leases[i].task, leases[i].lease_number});
    if (found == held_.end() || found->second.state == states[i]) continue;
    if (states[i] == model::LeaseState::kHeld) continue;
    found->second.state = states[i];
    v1::LeaseNotice* const notice = response()->add_notices();
    notice->set_task_id(model::FormatTaskId(leases[i].task));
    notice->set_state(ToWire(states[i]));
    notice->set_lease_token(found->second.token);
    if (states[i] == model::LeaseState::kLost) held_.erase(found);
  }
}

}  // namespace skiplane::rpc
