// One Lease call on its way through the dispatcher. All members but the first group are guarded by
// the dispatcher's mutex.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "server/base/timer.h"
#include "server/broker/api/calls.h"
#include "server/broker/queues/queue_cache.h"

namespace skiplane::broker {

struct Lane;

struct Ticket {
  // Constant after construction.
  LeaseCall call;
  absl::Duration lease_duration;
  std::string request_key;      // worker and request id; empty without a request id
  bool waits = false;           // else it is answered as soon as its lanes are known to be empty
  std::vector<QueuePtr> queues;

  enum class State {
    kWaiting,  // in the lists of its lanes
    kServing,  // in the lists, and one lane's statement leases for it
    kDone,     // answered, in no list
  };
  State state = State::kWaiting;
  bool is_cancelled = false;  // while serving: what comes is handed back
  bool is_expired = false;    // while serving: an empty outcome ends it
  int conflicts = 0;          // how often its request id was found to be taken
  Done<LeaseAnswer> done;
  base::Timer::Id deadline = 0;

  struct Stop {
    Lane* lane;
    std::list<std::shared_ptr<Ticket>>::iterator position;  // in the lane's list
    bool is_exhausted = false;  // without a wait: the lane had nothing
  };
  std::vector<Stop> stops;  // in the order in which the caller wants them asked

  // The lane had nothing for this call. Returns whether all of its lanes have said so, and the call
  // does not wait.
  bool Exhaust(const Lane& lane) {
    if (waits) return false;
    for (Stop& stop : stops) stop.is_exhausted |= stop.lane == &lane;
    return IsExhausted();
  }

  bool IsExhausted() const {
    return std::all_of(stops.begin(), stops.end(), [](const Stop& s) { return s.is_exhausted; });
  }

  // A repeat of this call with the same request id, which waits for the outcome of this one.
  std::shared_ptr<Ticket> successor;
};

using TicketPtr = std::shared_ptr<Ticket>;

}  // namespace skiplane::broker
