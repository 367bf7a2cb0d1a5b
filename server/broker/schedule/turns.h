// The calls that wait at a lane stage, and whose turn is next: that of the principal that has
// waited longest since its last turn; within it, of the worker; within it, of the oldest call. Who
// comes has waited since then. So what somebody gets does not grow with how many calls it has
// waiting.
//
// Calls that name no worker are one worker of their principal: else each of them would be one.
// A turn costs O(log n). Pure, not thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "server/broker/schedule/ticket.h"

namespace skiplane::broker {

using TurnNumber = uint64_t;  // grows; 0 is never used

struct PrincipalTurns;

struct WorkerTurns {
  PrincipalTurns* principal = nullptr;
  uint64_t key = 0;
  TurnNumber last = 0;          // its last turn, or when it came
  std::list<Ticket::Place> calls;  // oldest first
};

struct PrincipalTurns {
  uint64_t key = 0;
  TurnNumber last = 0;
  std::map<TurnNumber, WorkerTurns> workers;  // by `last`
};

// One turn that was taken, and what is needed to give it back.
struct Turn {
  WorkerTurns* worker = nullptr;
  int32_t caller = 0;  // index in Dealt::callers
  int64_t before = 0;  // how many tasks that one had been dealt before
  TurnNumber number = 0;
  TurnNumber worker_before = 0;
  TurnNumber principal_before = 0;
};

struct Dealt {
  std::vector<TicketPtr> callers;  // in the order of their first turns
  std::vector<int64_t> counts;     // of tasks, per caller
  std::vector<Turn> turns;
};

class Turns {
 public:
  // How many tasks a call may take now; none: it is passed by, and keeps its turn.
  using RoomOf = absl::FunctionRef<int64_t(const Ticket::Place&)>;

  // `entry` is the ticket's one of this index: it gets its place here.
  void Add(const TicketPtr& ticket, size_t index, Ticket::Entry* entry);
  void Remove(const Ticket::Entry& entry);

  bool empty() const { return size_ == 0; }
  int64_t size() const { return size_; }
  bool HasSeveralPrincipals() const { return principals_.size() > 1; }

  // Deals out up to `count` tasks, at most `turn_max` of them in a turn.
  Dealt Deal(int64_t count, int64_t turn_max, RoomOf room_of);

  // Turns that brought nothing are as if they had not been; `got`: how many tasks per caller. The
  // callers have been here all the time.
  void GiveBack(const std::vector<Turn>& turns, const std::vector<int64_t>& got);

  // In the order of turns.
  template <typename Predicate>
  bool AnyPlace(Predicate predicate) const {
    for (const auto& [principal_turn, principal] : principals_) {
      for (const auto& [worker_turn, worker] : principal.workers) {
        for (const Ticket::Place& place : worker.calls) {
          if (predicate(place)) return true;
        }
      }
    }
    return false;
  }
  template <typename Predicate>
  bool AnyOf(Predicate predicate) const {
    return AnyPlace([&predicate](const Ticket::Place& place) { return predicate(place.ticket); });
  }
  template <typename Function>
  void ForEach(Function function) const {
    AnyOf([&function](const TicketPtr& ticket) {
      function(ticket);
      return false;
    });
  }

 private:
  class Dealing;

  WorkerTurns& WorkerOf(const Ticket& ticket);

  std::map<TurnNumber, PrincipalTurns> principals_;  // by `last`
  absl::flat_hash_map<uint64_t, PrincipalTurns*> by_principal_;
  absl::flat_hash_map<uint64_t, WorkerTurns*> by_worker_;
  TurnNumber last_ = 0;
  int64_t size_ = 0;
};

}  // namespace skiplane::broker
