// One Lease call on its way through the scheduler. All members but the first group are the
// scheduler's.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "server/base/timer.h"
#include "server/broker/api/calls.h"
#include "server/broker/schedule/alarms.h"
#include "server/model/lane_stage.h"

namespace skiplane::broker {

struct LaneStageState;
struct WorkerTurns;

// By which turns are told apart: of the principal, and of its worker.
struct TurnKeys {
  uint64_t principal = 0;
  uint64_t worker = 0;
};
TurnKeys TurnKeysOf(const LeaseCall& call);

struct Ticket {
  // Where a caller wants tasks from.
  struct Wanted {
    model::LaneStage lane_stage;
    QueuePtr queue;
    size_t source = 0;  // the queue of the call that asks for it
  };

  // Constant once it is given to the scheduler, but for the callbacks, which whoever performs the
  // scheduler's actions calls: one of them, once.
  LeaseCall call;
  absl::Duration lease_duration;
  std::string request_key;  // worker and request id; empty without a request id
  bool waits = false;       // else it is answered as soon as nothing is known to be there;
                            // constant while it is in a list
  base::SteadyTime deadline{};  // of its wait
  std::vector<Wanted> wanted;   // in the order in which they are asked; each lane stage once
  std::vector<int64_t> most_of;  // per queue of the call: how many tasks to take; empty: no limit
  Callback<LeaseAnswer> done;
  absl::AnyInvocable<void()> on_declined;  // of a reservation (see Scheduler::Reserve)

  enum class State {
    kWaiting,  // in the lists of its lane stages, or a successor
    kServing,  // in the same while a statement leases for it; in none if it was reserved
    kFinding,  // in none while one looks for what an earlier call with its request id leased
    kDone,     // answered, in no list
  };
  State state = State::kWaiting;
  bool is_cancelled = false;  // while serving or finding: what comes is handed back
  bool is_expired = false;    // while serving or finding: an empty outcome ends it
  bool is_gone = false;       // its worker's session has ended: it was cancelled for that
  int conflicts = 0;          // how often its request id was found to be taken
  int finds = 0;              // looks for what was leased under its request id that are under way
  bool was_sought = false;    // one was made, or is made in front of the statement that serves it
  bool is_over = false;       // it is answered empty unless the look that is under way finds any
  Alarms::Id alarm = 0;       // its deadline

  // What it has got so far. A call that has got something waits for nothing more: it takes what its
  // other lane stages are known to have, up to what it asks for, and is answered.
  LeaseAnswer held;
  int64_t held_bytes = 0;  // payloads and headers
  bool IsFilling() const { return !held.tasks.empty(); }

  // Of a ticket in the list of a lane stage.
  struct Place {
    std::shared_ptr<Ticket> ticket;
    size_t entry;  // of its entries
  };
  struct Entry {
    LaneStageState* state = nullptr;
    WorkerTurns* worker = nullptr;          // in its list
    std::list<Place>::iterator position{};  // among the worker's calls
    std::list<Place>::iterator at_once{};   // if the call does not wait
    bool is_empty = false;  // it had nothing for this call
    bool has_served = false;  // the lane stage gave it what it got there
  };
  std::vector<Entry> entries;  // as `wanted`
  size_t empty_entries = 0;    // of them, those that are empty
  TurnKeys keys;
  int64_t places = 0;  // that count in the waiting room
  absl::InlinedVector<int64_t*, 4> counted;  // of its queues: the scheduler's counts of calls

  // How many tasks it takes there at most.
  int64_t RoomIn(model::LaneStage lane_stage) const;
  // Under which its leases there are found again: a statement of its own, and so an id.
  std::string RequestIdIn(model::LaneStage lane_stage) const;
  // Adds what a lane stage gave, maybe nothing.
  void Hold(model::LaneStage lane_stage, LeaseAnswer part);

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
