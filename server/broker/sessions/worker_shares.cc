#include "server/broker/sessions/worker_shares.h"

#include <algorithm>
#include <chrono>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::minutes kForgottenAfter(3);  // an end (session_forget.sql)
constexpr std::chrono::seconds kAgainMin(1);
constexpr std::chrono::minutes kAgainMax(1);

absl::Status TooManyWorkers(size_t most, std::chrono::nanoseconds again) {
  return base::WithRetryDelay(
      base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_WORKERS",
                   absl::StrCat("workers of this caller have ", most, " sessions, as many as those "
                                "of one caller may have at a broker, and this one got none: keep "
                                "the worker_id of a worker that begins anew, or lease for a "
                                "shorter time")),
      absl::FromChrono(again));
}

}  // namespace

absl::Status WorkerShares::Take(const std::string& party, const std::string& worker_id,
                                base::SteadyTime now, absl::Duration lives) {
  base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(Session* const session,
                   Find(PartyOf(party, now), absl::HashOf(worker_id), now));
  if (lives > absl::ZeroDuration()) session->lives = lives;
  session->end = std::max(session->end, now + absl::ToChronoNanoseconds(session->lives));
  return absl::OkStatus();
}

absl::Status WorkerShares::TakeEnd(const std::string& party, const std::string& worker_id,
                                   base::SteadyTime now) {
  base::MutexLock lock(mutex_);
  Party& its = PartyOf(party, now);
  const uint64_t worker = absl::HashOf(worker_id);
  ASSIGN_OR_RETURN(const Session* const session, Find(its, worker, now));
  const base::SteadyTime row_lives = std::max(session->end, now) + kForgottenAfter;
  its.sessions.erase(worker);
  its.sessions[absl::HashOf(worker, ++ended_)].end = row_lives;
  return absl::OkStatus();
}

absl::StatusOr<WorkerShares::Session*> WorkerShares::Find(Party& party, uint64_t worker,
                                                          base::SteadyTime now) const {
  const auto found = party.sessions.find(worker);
  if (found != party.sessions.end()) return &found->second;
  if (party.sessions.size() >= party.look_at && now >= party.full_until) Clean(party, now);
  if (party.sessions.size() >= of_party_max_) {
    return TooManyWorkers(of_party_max_, party.full_until - now);
  }
  return &party.sessions[worker];
}

WorkerShares::Party& WorkerShares::PartyOf(const std::string& name, base::SteadyTime now) {
  const auto found = parties_.find(name);
  if (found != parties_.end()) return found->second;
  if (parties_.size() >= look_at_) {
    absl::erase_if(parties_, [&](auto& party) {
      Clean(party.second, now);
      return party.second.sessions.empty();
    });
    look_at_ = std::max<size_t>(1000, 2 * parties_.size());
  }
  Party& made = parties_[name];
  made.look_at = std::min(made.look_at, of_party_max_);
  return made;
}

void WorkerShares::Clean(Party& party, base::SteadyTime now) const {
  base::SteadyTime first = now + kAgainMax;
  absl::erase_if(party.sessions, [&](const auto& worker) {
    if (worker.second.end <= now) return true;
    first = std::min(first, worker.second.end);
    return false;
  });
  party.look_at = std::min(std::max<size_t>(1000, 2 * party.sessions.size()), of_party_max_);
  if (party.sessions.size() >= of_party_max_) party.full_until = std::max(first, now + kAgainMin);
}

}  // namespace skiplane::broker
