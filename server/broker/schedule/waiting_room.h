// How many calls may wait, and for how many lane stages calls may be listed, of one party and of
// all. A place in the list of a lane stage takes 250 bytes, whether the call waits or not. The
// first place of a call is not counted: calls are, here or where they come in. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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
  absl::Status Enter(Ticket& ticket) {
    if (ticket.waits && calls_ >= limits_.calls) return TooManyWaitingCalls();
    const auto places = std::max<int64_t>(static_cast<int64_t>(ticket.wanted.size()) - 1, 0);
    if (places > 0) {
      const auto party = by_party_.find(ticket.call.party);
      if (places + (party == by_party_.end() ? 0 : party->second) > part_) {
        return TooManyLaneStages("of one principal", part_, "--principal-share");
      }
      if (lane_stages_ + places > limits_.lane_stages) {
        return TooManyLaneStages("of all", limits_.lane_stages, "--max-waiting-calls");
      }
      lane_stages_ += places;
      by_party_[ticket.call.party] += places;
      ticket.places = places;
    }
    if (ticket.waits) ++calls_;
    return absl::OkStatus();
  }

  void Leave(Ticket& ticket) {
    if (ticket.waits) --calls_;
    if (ticket.places == 0) return;
    lane_stages_ -= ticket.places;
    const auto party = by_party_.find(ticket.call.party);
    party->second -= ticket.places;
    if (party->second == 0) by_party_.erase(party);
    ticket.places = 0;
  }

 private:
  static absl::Status TooManyLaneStages(absl::string_view whose, int64_t limit,
                                        absl::string_view flag) {
    return TooManyWaitingCalls(
        absl::StrCat("the Lease calls ", whose, " may be for ", limit,
                     " lane stages together in this broker (", flag, ")"),
        "name fewer queues, or single stages of them, or retry later");
  }

  const WaitingLimits limits_;
  const int64_t part_;
  int calls_ = 0;
  int64_t lane_stages_ = 0;
  absl::flat_hash_map<std::string, int64_t> by_party_;
};

}  // namespace skiplane::broker
