#include "server/broker/batch/pool_turns.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace skiplane::broker {
namespace {

bool IsOfOperators(TurnOf kind) { return kind >= TurnOf::kCall; }

}  // namespace

PoolTurns::PoolTurns(pg::Pool& pool, int connections)
    : pool_(pool),
      all_at_once_(std::max(1, connections - 1)),
      of_operators_at_once_(std::max(1, connections - 2)) {
  const auto part = [connections](int of) { return std::max(1, connections / of); };
  base::MutexLock lock(mutex_);
  Of(TurnOf::kWork).at_once = part(2);
  Of(TurnOf::kProbe).at_once = part(2);
  Of(TurnOf::kCall).at_once = part(2);
  Of(TurnOf::kList).at_once = part(4);
  Of(TurnOf::kStep).at_once = part(4);
  for (Kind& kind : kinds_) kind.of_party = kind.at_once;
  Of(TurnOf::kWork).of_party = std::max(1, part(2) / 2);
  Of(TurnOf::kProbe).of_party = 1;
  Of(TurnOf::kCall).of_party = std::max(1, part(2) / 2);
  Of(TurnOf::kList).of_party = std::max(1, part(4) / 2);
}

bool PoolTurns::HasRoom(TurnOf kind) const {
  const Kind& its = kinds_[static_cast<size_t>(kind)];
  return running_ < all_at_once_ && its.running < its.at_once &&
         (!IsOfOperators(kind) || of_operators_ < of_operators_at_once_);
}

void PoolTurns::Count(TurnOf kind, Party& party, int jobs) {
  party.running += jobs;
  Of(kind).running += jobs;
  running_ += jobs;
  if (IsOfOperators(kind)) of_operators_ += jobs;
}

void PoolTurns::Submit(TurnOf kind, const std::string& party, pg::Pool::Job job) {
  {
    base::MutexLock lock(mutex_);
    Kind& of = Of(kind);
    Party& its = of.parties[party];
    if (!HasRoom(kind) || its.running >= of.of_party) {
      if (its.waiting.empty()) of.turns.push_back(party);
      its.waiting.push_back(std::move(job));
      return;
    }
    Count(kind, its, 1);
  }
  Start({kind, party, std::move(job)});
}

void PoolTurns::Start(Next next) {
  auto run = [this, next = std::move(next)](absl::StatusOr<pg::Session*> session) mutable {
    const base::SteadyTime end = std::chrono::steady_clock::now() + kTurn;
    for (;;) {
      next.job(session);
      if (!session.ok()) RefuseAll(session.status());
      next = Ended(next.kind, next.party);
      if (next.job == nullptr) return;
      const bool goes_on =
          session.ok() && (*session)->alive() && std::chrono::steady_clock::now() < end;
      if (!goes_on) return Start(std::move(next));
    }
  };
  // Not behind what its party has waiting there: it counts as one that runs.
  pool_.Submit(std::move(run), {"turns"});
}

// At most one can begin for one that has ended: what it left is one place of each limit.
PoolTurns::Next PoolTurns::Ended(TurnOf kind, const std::string& party) {
  base::MutexLock lock(mutex_);
  Kind& of = Of(kind);
  const auto its = of.parties.find(party);
  Count(kind, its->second, -1);
  if (its->second.running == 0 && its->second.waiting.empty()) of.parties.erase(its);
  return Take();
}

PoolTurns::Next PoolTurns::Take() {
  for (size_t i = 1; i <= kKinds; ++i) {
    const auto kind = static_cast<TurnOf>((last_ + i) % kKinds);
    if (!HasRoom(kind)) continue;
    Next next = TakeOf(kind);
    if (next.job == nullptr) continue;
    last_ = static_cast<size_t>(kind);
    return next;
  }
  return {};
}

PoolTurns::Next PoolTurns::TakeOf(TurnOf kind) {
  Kind& of = Of(kind);
  for (auto turn = of.turns.begin(); turn != of.turns.end(); ++turn) {
    Party& its = of.parties[*turn];
    if (its.running >= of.of_party) continue;
    Next next{kind, *turn, std::move(its.waiting.front())};
    its.waiting.pop_front();
    Count(kind, its, 1);
    if (its.waiting.empty()) {
      of.turns.erase(turn);
    } else {
      of.turns.splice(of.turns.end(), of.turns, turn);
    }
    return next;
  }
  return {};
}

void PoolTurns::RefuseAll(const absl::Status& status) {
  std::vector<pg::Pool::Job> refused;
  {
    base::MutexLock lock(mutex_);
    for (Kind& kind : kinds_) {
      for (const std::string& party : kind.turns) {
        const auto its = kind.parties.find(party);
        for (pg::Pool::Job& job : its->second.waiting) refused.push_back(std::move(job));
        its->second.waiting.clear();
        if (its->second.running == 0) kind.parties.erase(its);
      }
      kind.turns.clear();
    }
  }
  for (pg::Pool::Job& job : refused) job(status);
}

}  // namespace skiplane::broker
