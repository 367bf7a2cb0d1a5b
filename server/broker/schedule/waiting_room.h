// The calls that wait: how many there may be, and how many places in the lists of lane stages they
// may have, of one party and of all. A call has one place for itself; each further one counts, as
// it takes 250 bytes. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/part.h"
#include "server/broker/api/refusals.h"
#include "server/broker/schedule/ticket.h"
#include "server/model/limits.h"

namespace skiplane::broker {

struct WaitingLimits {
  int calls = 0;
  int64_t lane_stages = model::kWaitingLaneStagesMax;
  int party_share = 100;  // percent of the lane stages, of a party
};

class WaitingRoom {
 public:
  explicit WaitingRoom(WaitingLimits limits)
      : limits_(limits), part_(base::PartOf(limits.lane_stages, limits.party_share)) {}

  // TOO_MANY_WAITING_CALLS if there is no room; else it is in until it leaves.
  absl::Status Enter(const Ticket& ticket) {
    if (calls_ >= limits_.calls) return TooManyWaitingCalls();
    if (const int64_t places = FurtherPlaces(ticket); places > 0) {
      const auto party = by_party_.find(ticket.call.party);
      if (places + (party == by_party_.end() ? 0 : party->second) > part_) {
        return TooManyWaitingCalls("this caller's Lease calls wait for too many lane stages",
                                   kFewer);
      }
      if (lane_stages_ + places > limits_.lane_stages) {
        return TooManyWaitingCalls("the Lease calls of this broker wait for too many lane stages",
                                   kFewer);
      }
      lane_stages_ += places;
      by_party_[ticket.call.party] += places;
    }
    ++calls_;
    return absl::OkStatus();
  }

  void Leave(const Ticket& ticket) {
    --calls_;
    const int64_t places = FurtherPlaces(ticket);
    if (places == 0) return;
    lane_stages_ -= places;
    const auto of_party = by_party_.find(ticket.call.party);
    of_party->second -= places;
    if (of_party->second == 0) by_party_.erase(of_party);
  }

 private:
  static int64_t FurtherPlaces(const Ticket& ticket) {
    return std::max<int64_t>(static_cast<int64_t>(ticket.wanted.size()) - 1, 0);
  }

  static constexpr absl::string_view kFewer =
      "name fewer queues, or single stages of them, or retry later";

  const WaitingLimits limits_;
  const int64_t part_;
  int calls_ = 0;
  int64_t lane_stages_ = 0;
  absl::flat_hash_map<std::string, int64_t> by_party_;
};

}  // namespace skiplane::broker
