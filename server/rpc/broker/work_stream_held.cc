#include <utility>

#include "server/base/reason.h"
#include "server/broker/api/refusals.h"
#include "server/rpc/broker/work_stream.h"
#include "server/rpc/call/wire_enum.h"

namespace skiplane::rpc {
namespace {

absl::Status StreamReplaced() {
  return base::Refuse(absl::StatusCode::kAborted, "STREAM_REPLACED",
                      "this worker has begun another stream at this broker: give each worker a "
                      "worker_id of its own");
}

}  // namespace

void WorkStream::Held(const model::LeaseToken& lease, std::string token,
                      model::LeaseState state) {
  if (state == model::LeaseState::kLost) return;
  held_[{lease.task, lease.lease_number}] = {lease, std::move(token), state};
}

void WorkStream::Over(const model::LeaseToken& lease) {
  held_.erase({lease.task, lease.lease_number});
  EndIfDenied();
}

// Whose they are is not known: each worker's own are looked at, by one look at a time.
void WorkStream::OnLeasesTaken() {
  std::vector<model::LeaseToken> leases;
  Update([&] {
    if (is_ending()) return;
    if (is_looking_) {
      looks_again_ = true;
      return;
    }
    for (const auto& [key, known] : held_) leases.push_back(known.lease);
    is_looking_ = !leases.empty();
    if (is_looking_) AddUnanswered(1);
  });
  if (leases.empty()) return;
  broker_.LookAtLeases(leases, [this, leases](
                                   absl::StatusOr<std::vector<model::LeaseState>> states) {
    bool looks_again = false;
    Update([&] {
      if (states.ok()) Notice(leases, *states);
      is_looking_ = false;
      looks_again = std::exchange(looks_again_, false);
    });
    if (states.ok()) {  // else it may be refused at once, under the locks of who tells
      if (looks_again) OnLeasesTaken();
      Fetch();
    }
    Update([this] { AddUnanswered(-1); });
  });
}

// Of those that are held still, each state once. What could not be looked at is told by the next
// heartbeat.
void WorkStream::Notice(const Leases& leases, const std::vector<model::LeaseState>& states) {
  for (size_t i = 0; i < leases.size(); ++i) {
    const auto found = held_.find({leases[i].task, leases[i].lease_number});
    if (found == held_.end() || found->second.state == states[i]) continue;
    if (states[i] == model::LeaseState::kHeld) continue;
    found->second.state = states[i];
    Tell(found->second, states[i]);
    if (states[i] == model::LeaseState::kLost) held_.erase(found);
  }
  EndIfDenied();
}

void WorkStream::Tell(const Known& known, model::LeaseState state) {
  v1::LeaseNotice* const notice = response()->add_notices();
  notice->set_task_id(model::FormatTaskId(known.lease.task));
  notice->set_state(ToWire(state));
  notice->set_lease_token(known.token);
  unsent_.Add(*notice);
}

// The session is gone.
void WorkStream::LoseAll() {
  if (is_ending()) return;
  for (const auto& [key, known] : held_) Tell(known, model::LeaseState::kLost);
  held_.clear();
  EndWith(broker::SessionLost());
}

// A worker that ended its session itself gets its settlements answered.
void WorkStream::OnSessionGone() {
  Update([this] {
    if (ends_ == 0) LoseAll();
  });
}

void WorkStream::Yield() {
  Update([this] { is_stopped_ = true; });
  EndFetch();
}

void WorkStream::Replaced(const LeaseNumbers* named) {
  Update([&] {
    if (is_ending()) return;
    for (auto i = held_.begin(); named != nullptr && i != held_.end();) {
      if (named->contains(i->first)) {
        ++i;
        continue;
      }
      Tell(i->second, model::LeaseState::kLost);
      held_.erase(i++);
    }
    EndWith(StreamReplaced());
  });
}

}  // namespace skiplane::rpc
