#include "server/broker/operate/bulk_waiters.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "server/broker/api/refusals.h"
#include "server/store/bulk.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::milliseconds kPause(50);

absl::StatusOr<BulkWaiters::Operations> Read(const absl::StatusOr<pg::Session*>& session,
                                             const BulkWaiters::Ids& ids) {
  if (!session.ok()) return session.status();
  auto found =
      store::GetBulks(**session, std::vector<model::SessionId>(ids.begin(), ids.end()));
  if (IsOutcomeUnknown(found.status())) return RepeatLater();
  if (!found.ok()) return found.status();
  BulkWaiters::Operations operations;
  for (model::BulkOperation& operation : *found) operations[operation.id] = std::move(operation);
  return operations;
}

}  // namespace

void BulkWaiters::Add(const model::SessionId& id, absl::Duration wait,
                      Callback<model::BulkOperation> done) {
  const auto until = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(wait);
  {
    base::MutexLock lock(mutex_);
    waiting_.push_back({id, until, std::move(done)});
    if (state_ != State::kIdle || !GoOn()) return;
  }
  Ask();
}

void BulkWaiters::End() {
  {
    base::MutexLock lock(mutex_);
    is_ended_ = true;
    if (state_ != State::kPausing) return;
    state_ = State::kAsking;
  }
  Ask();
}

// Returns whether to ask now.
bool BulkWaiters::GoOn() {
  state_ = State::kIdle;
  if (waiting_.empty()) return false;
  state_ = is_ended_ ? State::kAsking : State::kPausing;
  if (!is_ended_) context_.timer.After(kPause, [this] { OnTimer(); });
  return is_ended_;
}

void BulkWaiters::OnTimer() {
  {
    base::MutexLock lock(mutex_);
    if (state_ != State::kPausing) return;
    state_ = State::kAsking;
  }
  Ask();
}

void BulkWaiters::Ask() {
  auto ask = [this](absl::StatusOr<pg::Session*> session) {
    absl::flat_hash_set<model::SessionId> ids;
    {
      base::MutexLock lock(mutex_);
      for (const Waiter& waiter : waiting_) ids.insert(waiter.id);
    }
    Answer(ids, Read(session, ids));
    bool again = false;
    {
      base::MutexLock lock(mutex_);
      again = GoOn();
    }
    if (again) Ask();
  };
  context_.pool.Submit(std::move(ask), {"waits for bulk operations"});
}

// Those who came while the statement ran wait for the next one.
void BulkWaiters::Answer(const Ids& asked, const absl::StatusOr<Operations>& found) {
  std::vector<Waiter> over;
  {
    const auto now = std::chrono::steady_clock::now();
    base::MutexLock lock(mutex_);
    const auto goes_on = [&](const Waiter& waiter) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      if (!asked.contains(waiter.id)) return true;
      if (!found.ok() || is_ended_ || waiter.until <= now) return false;
      const auto operation = found->find(waiter.id);
      return operation != found->end() &&
             operation->second.state == model::BulkOperationState::kRunning;
    };
    const auto first_over = std::stable_partition(waiting_.begin(), waiting_.end(), goes_on);
    over.assign(std::make_move_iterator(first_over), std::make_move_iterator(waiting_.end()));
    waiting_.erase(first_over, waiting_.end());
  }
  for (Waiter& waiter : over) {
    if (!found.ok()) {
      waiter.done(found.status());
      continue;
    }
    const auto operation = found->find(waiter.id);
    if (operation != found->end()) {
      waiter.done(operation->second);
    } else {
      waiter.done(store::BulkNotFound());
    }
  }
}

}  // namespace skiplane::broker
