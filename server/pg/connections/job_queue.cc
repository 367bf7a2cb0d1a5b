#include "server/pg/connections/job_queue.h"

#include <cstddef>

namespace skiplane::pg {
namespace {

constexpr size_t kRememberedMax = 10000;

JobQueue::Job TakeOf(std::list<JobQueue::Job>& jobs) {
  JobQueue::Job job = std::move(jobs.front());
  jobs.pop_front();
  return job;
}

}  // namespace

void JobQueue::Push(Job job, const JobOrder& order) {
  if (order.rank == JobRank::kInTurn) {
    Party& party = parties_[order.party];
    if (party.jobs.empty()) turns_.push_back(order.party);
    party.jobs.push_back(std::move(job));
  } else {
    (order.rank == JobRank::kFirst ? first_ : last_).push_back(std::move(job));
  }
  Count(1);
}

void JobQueue::PutBack(Taken taken) {
  End(taken, taken.began);
  first_.push_front(std::move(taken.job));
  Count(1);
}

bool JobQueue::HasNext(bool any) {
  return !first_.empty() || NextTurn(any) != turns_.end() || (turns_.empty() && !last_.empty());
}

JobQueue::Taken JobQueue::Take(bool any) {
  Taken taken = first_.empty() ? TakeInTurn(any) : Taken{TakeOf(first_)};
  taken.began = std::chrono::steady_clock::now();
  Count(-1);
  return taken;
}

JobQueue::Job JobQueue::TakeToRefuse() {
  Taken taken = Take(true);
  End(taken, taken.began);
  return std::move(taken.job);
}

void JobQueue::End(const Taken& taken, SteadyTime now) {
  if (!taken.party.has_value()) return;
  const auto party = parties_.find(*taken.party);
  --party->second.running;
  if (party->second.running == 0 && party->second.jobs.empty()) parties_.erase(party);
  if (now - taken.began < kLongJob) return;
  if (long_until_.size() >= kRememberedMax) long_until_.clear();
  long_until_[*taken.party] = now + kLongFor;
}

bool JobQueue::HasItsPart(const std::string& name) {
  if (threads_ < 3 || parties_[name].running < threads_ - 1) return false;
  const auto found = long_until_.find(name);
  return found != long_until_.end() && std::chrono::steady_clock::now() < found->second;
}

std::list<std::string>::iterator JobQueue::NextTurn(bool any) {
  auto turn = turns_.begin();
  while (turn != turns_.end() && !any && HasItsPart(*turn)) ++turn;
  return turn;
}

JobQueue::Taken JobQueue::TakeInTurn(bool any) {
  const auto turn = NextTurn(any);
  if (turn == turns_.end()) return {TakeOf(last_)};
  Party& party = parties_[*turn];
  Taken taken{TakeOf(party.jobs), *turn};
  ++party.running;
  if (party.jobs.empty()) {
    turns_.erase(turn);
  } else {
    turns_.splice(turns_.end(), turns_, turn);
  }
  return taken;
}

}  // namespace skiplane::pg
