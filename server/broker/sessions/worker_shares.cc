#include "server/broker/sessions/worker_shares.h"

#include <algorithm>
#include <chrono>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::minutes kEndedLives(3);  // see session_forget.sql
constexpr std::chrono::seconds kAgainMin(1);
constexpr std::chrono::minutes kAgainMax(1);

absl::Status TooManyWorkers(size_t most, std::chrono::nanoseconds again) {
  return base::WithRetryDelay(
      base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_WORKERS",
                   absl::StrCat(most, " workers of this caller have sessions that live, the most "
                                "that one caller may have at a broker; nothing was changed: keep "
                                "the worker_id of a worker that begins anew, end sessions by "
                                "Heartbeat (end_session), or lease for a shorter time")),
      absl::FromChrono(again));
}

}  // namespace

absl::Status WorkerShares::Take(const std::string& party, const std::string& worker_id,
                                base::SteadyTime now, absl::Duration lives) {
  base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(base::SteadyTime* const end, Find(party, worker_id, now));
  *end = std::max(*end, now + absl::ToChronoNanoseconds(lives));
  return absl::OkStatus();
}

absl::Status WorkerShares::TakeEnd(const std::string& party, const std::string& worker_id,
                                   base::SteadyTime now) {
  base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(base::SteadyTime* const end, Find(party, worker_id, now));
  *end = now + kEndedLives;
  return absl::OkStatus();
}

absl::StatusOr<base::SteadyTime*> WorkerShares::Find(const std::string& party,
                                                     const std::string& worker_id,
                                                     base::SteadyTime now) {
  Party& its = PartyOf(party, now);
  const uint64_t id = absl::HashOf(worker_id);
  const auto found = its.ends.find(id);
  if (found != its.ends.end()) return &found->second;
  if (its.ends.size() >= its.look_at && now >= its.full_until) Clean(its, now);
  if (its.ends.size() >= of_party_max_) return TooManyWorkers(of_party_max_, its.full_until - now);
  return &its.ends[id];
}

WorkerShares::Party& WorkerShares::PartyOf(const std::string& name, base::SteadyTime now) {
  const auto found = parties_.find(name);
  if (found != parties_.end()) return found->second;
  if (parties_.size() >= look_at_) {
    absl::erase_if(parties_, [&](auto& party) {
      Clean(party.second, now);
      return party.second.ends.empty();
    });
    look_at_ = std::max<size_t>(1000, 2 * parties_.size());
  }
  Party& made = parties_[name];
  made.look_at = std::min(made.look_at, of_party_max_);
  return made;
}

void WorkerShares::Clean(Party& party, base::SteadyTime now) const {
  base::SteadyTime first = now + kAgainMax;
  absl::erase_if(party.ends, [&](const auto& worker) {
    if (worker.second <= now) return true;
    first = std::min(first, worker.second);
    return false;
  });
  party.look_at = std::min(std::max<size_t>(1000, 2 * party.ends.size()), of_party_max_);
  if (party.ends.size() >= of_party_max_) party.full_until = std::max(first, now + kAgainMin);
}

}  // namespace skiplane::broker
