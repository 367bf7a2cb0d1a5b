#include "server/broker/schedule/turns.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace skiplane::broker {
namespace {

// Addresses stay as they are.
template <typename Map>
void Move(Map& map, TurnNumber to, typename Map::mapped_type& value) {
  auto node = map.extract(value.last);
  node.key() = to;
  value.last = to;
  map.insert(map.end(), std::move(node));
}

}  // namespace

// What of a caller has to be told from others is a number: two names may share one, and then turns.
TurnKeys TurnKeysOf(const LeaseCall& call) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  const uint64_t principal = std::hash<std::string>()(call.principal);
  return {principal, std::hash<std::string>()(call.worker_id) ^ (principal * kOdd)};
}

WorkerTurns& Turns::WorkerOf(const Ticket& ticket) {
  WorkerTurns*& worker = by_worker_[ticket.keys.worker];
  if (worker != nullptr) return *worker;
  ++last_;
  PrincipalTurns*& principal = by_principal_[ticket.keys.principal];
  if (principal == nullptr) {
    principal = &principals_[last_];
    principal->key = ticket.keys.principal;
    principal->last = last_;
  }
  worker = &principal->workers[last_];
  worker->principal = principal;
  worker->key = ticket.keys.worker;
  worker->last = last_;
  return *worker;
}

void Turns::Add(const TicketPtr& ticket, size_t index, Ticket::Entry* entry) {
  WorkerTurns& worker = WorkerOf(*ticket);
  worker.calls.push_back({ticket, index});
  entry->worker = &worker;
  entry->position = std::prev(worker.calls.end());
  ++size_;
}

void Turns::Remove(const Ticket::Entry& entry) {
  WorkerTurns& worker = *entry.worker;
  worker.calls.erase(entry.position);
  --size_;
  if (!worker.calls.empty()) return;
  PrincipalTurns& principal = *worker.principal;
  by_worker_.erase(worker.key);
  principal.workers.erase(worker.last);
  if (!principal.workers.empty()) return;
  by_principal_.erase(principal.key);
  principals_.erase(principal.last);
}

// Who has no call with room keeps its place and is not looked at again in this deal.
class Turns::Dealing {
 public:
  Dealing(Turns& turns, RoomOf room_of) : turns_(turns), room_of_(room_of) {}

  // False: nobody takes any more.
  bool Next(int64_t most) {
    auto& principals = turns_.principals_;
    for (auto at = principals.upper_bound(passed_); at != principals.end(); ++at) {
      if (TakeFrom(at->second, most)) return true;
      passed_ = at->first;
    }
    return false;
  }

  int64_t count() const { return count_; }
  Dealt Take() { return std::move(dealt_); }

 private:
  struct OfWorker {
    std::list<Ticket::Place>::iterator next;  // not looked at yet
    std::vector<int32_t> again{};             // callers that take more
    size_t again_at = 0;
  };

  bool TakeFrom(PrincipalTurns& principal, int64_t most) {
    const auto known = passed_workers_.find(&principal);
    TurnNumber passed = known == passed_workers_.end() ? 0 : known->second;
    for (auto at = principal.workers.upper_bound(passed); at != principal.workers.end(); ++at) {
      if (TakeFrom(at->second, most)) {
        passed_workers_[&principal] = passed;
        return true;
      }
      passed = at->first;
    }
    return false;
  }

  // Only who takes something is remembered: thousands may be passed by.
  bool TakeFrom(WorkerTurns& worker, int64_t most) {
    const auto known = workers_.find(&worker);
    OfWorker its{worker.calls.begin()};
    if (known != workers_.end()) its = std::move(known->second);
    const int32_t caller = NextCall(worker, its);
    if (caller < 0) return false;
    TakeTurn(worker, its, caller, most);
    workers_[&worker] = std::move(its);
    return true;
  }

  int32_t NextCall(WorkerTurns& worker, OfWorker& its) {
    while (its.next != worker.calls.end()) {
      const Ticket::Place& place = *its.next++;
      const int64_t room = room_of_(place);
      if (room <= 0) continue;
      dealt_.callers.push_back(place.ticket);
      dealt_.counts.push_back(0);
      rooms_.push_back(room);
      return static_cast<int32_t>(dealt_.callers.size()) - 1;
    }
    return its.again_at == its.again.size() ? -1 : its.again[its.again_at++];
  }

  void TakeTurn(WorkerTurns& worker, OfWorker& its, int32_t caller, int64_t most) {
    int64_t& count = dealt_.counts[static_cast<size_t>(caller)];
    const int64_t room = rooms_[static_cast<size_t>(caller)];
    const int64_t taken = std::min(most, room - count);
    const TurnNumber number = ++turns_.last_;
    dealt_.turns.push_back({&worker, caller, count, number, worker.last, worker.principal->last});
    count += taken;
    count_ += taken;
    if (count < room) its.again.push_back(caller);
    PrincipalTurns& principal = *worker.principal;
    Move(principal.workers, number, worker);
    Move(turns_.principals_, number, principal);
  }

  Turns& turns_;
  const RoomOf room_of_;
  Dealt dealt_;
  int64_t count_ = 0;
  std::vector<int64_t> rooms_;  // as dealt_.callers
  TurnNumber passed_ = 0;       // principals up to here take no more
  absl::flat_hash_map<const PrincipalTurns*, TurnNumber> passed_workers_;
  absl::flat_hash_map<const WorkerTurns*, OfWorker> workers_;
};

Dealt Turns::Deal(int64_t count, int64_t turn_max, RoomOf room_of) {
  Dealing deal(*this, room_of);
  while (deal.count() < count && deal.Next(std::min(turn_max, count - deal.count()))) {
  }
  return deal.Take();
}

// The last one first. Who has had a further turn since, of another statement, keeps that.
void Turns::GiveBack(const std::vector<Turn>& turns, const std::vector<int64_t>& got) {
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
    if (got[static_cast<size_t>(turn->caller)] > turn->before) continue;
    WorkerTurns& worker = *turn->worker;
    PrincipalTurns& principal = *worker.principal;
    if (worker.last == turn->number) Move(principal.workers, turn->worker_before, worker);
    if (principal.last == turn->number) Move(principals_, turn->principal_before, principal);
  }
}

}  // namespace skiplane::broker
