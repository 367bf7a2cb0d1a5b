#include "server/broker/sessions/lease_looker.h"

#include <chrono>
#include <utility>

#include "server/broker/api/refusals.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

// A bulk operation takes leases in many commits.
constexpr std::chrono::milliseconds kTogether(20);

}  // namespace

LeaseLooker::LeaseLooker(Context& context)
    : context_(context),
      batcher_(context.pool, BatchLimits{.party = "looks at leases"},
               [this](absl::StatusOr<pg::Session*> session, std::vector<Pending> looks) {
                 Run(std::move(session), std::move(looks));
               }) {}

void LeaseLooker::Look(std::vector<model::LeaseToken> leases,
                       Callback<std::vector<model::LeaseState>> done) {
  const auto rows = static_cast<int64_t>(leases.size());
  Pending pending{std::move(leases), std::move(done)};
  if (!batcher_.Add(std::move(pending), rows, 64 * rows)) pending.done(TooManyCalls());
}

void LeaseLooker::Run(absl::StatusOr<pg::Session*> session, std::vector<Pending> looks) {
  std::vector<model::LeaseToken> all;
  for (const Pending& look : looks) all.insert(all.end(), look.leases.begin(), look.leases.end());
  absl::StatusOr<std::vector<model::LeaseState>> states =
      session.ok() ? store::FindLeaseStates(**session, all) : session.status();
  auto next = states.ok() ? states->begin() : std::vector<model::LeaseState>::iterator();
  for (Pending& look : looks) {
    if (!states.ok()) {
      look.done(IsOutcomeUnknown(states.status()) ? RepeatLater() : states.status());
      continue;
    }
    const auto end = next + static_cast<std::ptrdiff_t>(look.leases.size());
    look.done(std::vector<model::LeaseState>(next, end));
    next = end;
  }
}

void LeaseLooker::WhenTaken(LeasesTaken taken) {
  base::MutexLock lock(mutex_);
  taken_ = std::move(taken);
}

void LeaseLooker::Taken() {
  base::MutexLock lock(mutex_);
  if (is_armed_ || taken_ == nullptr) return;
  is_armed_ = true;
  context_.timer.After(kTogether, [this] { Tell(); });
}

void LeaseLooker::Tell() {
  base::MutexLock lock(mutex_);
  is_armed_ = false;
  if (taken_ != nullptr) taken_();
}

void LeaseLooker::WhenGone(SessionsGone gone) {
  base::MutexLock lock(mutex_);
  gone_ = std::move(gone);
}

void LeaseLooker::Gone(absl::Span<const model::SessionId> sessions) {
  base::MutexLock lock(mutex_);
  if (gone_ != nullptr) gone_(sessions);
}

}  // namespace skiplane::broker
