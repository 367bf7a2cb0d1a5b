// One Lease call on its way through the scheduler. All members but the first group are the
// scheduler's.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "server/base/timer.h"
#include "server/broker/api/calls.h"
#include "server/broker/schedule/alarms.h"
#include "server/model/lane_stage.h"

namespace skiplane::broker {

struct LaneStageState;

struct Ticket {
  // Where a caller wants tasks from.
  struct Wanted {
    model::LaneStage lane_stage;
    QueuePtr queue;
  };

  // Constant once it is given to the scheduler, but for the callbacks, which whoever performs the
  // scheduler's actions calls: one of them, once.
  LeaseCall call;
  absl::Duration lease_duration;
  std::string request_key;  // worker and request id; empty without a request id
  bool waits = false;       // else it is answered as soon as nothing is known to be there
  base::SteadyTime deadline{};  // of its wait
  std::vector<Wanted> wanted;   // in the order in which they are asked; each lane stage once
  Callback<LeaseAnswer> done;
  absl::AnyInvocable<void()> on_declined;  // of a reservation (see Scheduler::Reserve)

  enum class State {
    kWaiting,  // in the lists of its lane stages, or a successor
    kServing,  // in the same while a statement leases for it; in none while one looks for what it
               // leased before
    kDone,     // answered, in no list
  };
  State state = State::kWaiting;
  bool is_cancelled = false;  // while serving: what comes is handed back
  bool is_expired = false;    // while serving: an empty outcome ends it
  int conflicts = 0;          // how often its request id was found to be taken
  Alarms::Id alarm = 0;       // its deadline

  struct Entry {
    LaneStageState* state;
    std::list<std::shared_ptr<Ticket>>::iterator position;  // in its list
    bool is_empty = false;  // it had nothing for this call
  };
  std::vector<Entry> entries;  // as `wanted`

  // A repeat of this call with the same request id: it waits while this one is served, and then
  // takes its place, as nobody waits for this one any more.
  std::shared_ptr<Ticket> successor;
  bool IsSuperseded() const {
    return successor != nullptr && successor->state != State::kDone;
  }

  // Whether nobody is there for whom it would go on waiting after it was served with nothing.
  bool MustEnd() const { return is_cancelled || is_expired || IsSuperseded(); }
};

using TicketPtr = std::shared_ptr<Ticket>;

}  // namespace skiplane::broker
