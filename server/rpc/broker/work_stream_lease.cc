#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/broker/seal_tokens.h"
#include "server/rpc/broker/work_stream.h"
#include "server/rpc/call/permit.h"

namespace skiplane::rpc {
namespace {

constexpr absl::Duration kRetryDelayDefault = absl::Seconds(1);

// Whether the same Lease may be granted a little later, by this broker.
bool PassesSoon(const absl::Status& refusal) {
  if (base::ReasonOf(refusal) == "BROKER_DRAINING") return false;
  return absl::IsUnavailable(refusal) ||
         (absl::IsResourceExhausted(refusal) && base::RetryDelayOf(refusal).has_value());
}

}  // namespace

using std::chrono::steady_clock;

// A worker without a heartbeat for half of its lease duration gets nothing more until it sends one:
// its session may end before what is pushed is done.
base::SteadyTime WorkStream::SilentFrom() const {
  return heard_ + absl::ToChronoNanoseconds(lease_duration_ / 2);
}

bool WorkStream::MayFetch() const {
  return is_welcome_ && denied_.ok() && ends_ == 0 && !is_stopped_ && !is_quiet_ && !is_ending() &&
         !is_fetching_ && next_fetch_ == 0 && credit_ > 0 && pushed_.tasks.empty() &&
         held_.size() < size_t{model::kHelloLeasesMax} && steady_clock::now() < SilentFrom();
}

broker::LeaseCall WorkStream::NextLease() const {
  broker::LeaseCall call = lease_;
  const base::SteadyTime now = steady_clock::now();
  call.lease_duration = lease_duration_;
  call.max_tasks = static_cast<int>(std::min<int64_t>(credit_, model::kTasksPerCallMax));
  call.wait = std::min(absl::FromChrono(SilentFrom() - now), model::kWaitMax);
  call.began = now;
  return call;
}

// The rules may have changed since the worker last said something, and its credentials may expire
// before the next task comes.
absl::Status WorkStream::PermitNow(broker::LeaseCall* call) const {
  ASSIGN_OR_RETURN(const access::Admitted admitted, AdmitNow());
  const absl::Duration proven = admitted.principal->expires - absl::Now();
  call->wait = std::max(std::min(call->wait, proven), absl::ZeroDuration());
  return Permit(admitted.grants, call);
}

// Who may lease no more settles and renews what it holds, and is told when that is nothing.
void WorkStream::EndIfDenied() {
  if (!denied_.ok() && held_.empty()) EndWith(denied_);
}

// The Lease counts as unanswered until its answer is taken in, and so does this function.
void WorkStream::Fetch() {
  int64_t number = 0;
  broker::LeaseCall call;
  Update([&] {
    if (!MayFetch()) return;
    is_fetching_ = true;
    number = ++last_fetch_;
    AddUnanswered(2);
    call = NextLease();
  });
  if (number == 0) return;
  const absl::Status permitted = PermitNow(&call);
  if (!permitted.ok()) {
    Fetched(permitted);
    Update([this] { AddUnanswered(-1); });
    return;
  }
  auto fetch = broker_.Lease(std::move(call), [this](absl::StatusOr<broker::LeaseAnswer> answer) {
    Fetched(std::move(answer));
  });
  bool is_over = false;
  Update([&] {
    is_over = ends_ > 0 || is_stopped_ || is_quiet_ || is_ending() || withdrawn_.has_value();
    if (is_fetching_ && last_fetch_ == number) fetch_ = fetch;
  });
  if (is_over) fetch->Cancel();
  Update([this] { AddUnanswered(-1); });
}

void WorkStream::Fetched(absl::StatusOr<broker::LeaseAnswer> answer) {
  Update([&] {
    is_fetching_ = false;
    fetch_ = nullptr;
    if (!answer.ok() && base::ReasonOf(answer.status()) == "SESSION_LOST") {
      if (ends_ == 0) LoseAll();
    } else if (!answer.ok() && PassesSoon(answer.status()) &&
               patience_.Allows(steady_clock::now())) {
      FetchAfter(base::RetryDelayOf(answer.status()).value_or(kRetryDelayDefault));
    } else if (absl::IsPermissionDenied(answer.status())) {
      denied_ = answer.status();
      EndIfDenied();
    } else if (base::ReasonOf(answer.status()) == "BROKER_DRAINING") {
      EndByDrain();
    } else if (!answer.ok()) {
      EndWith(answer.status());
    } else if (!answer->tasks.empty()) {
      Push(*std::move(answer));
    }
    if (answer.ok()) patience_.Reset();
    AnswerWithdrawn();
  });
  Fetch();
  Update([this] { AddUnanswered(-1); });
}

void WorkStream::Push(broker::LeaseAnswer answer) {
  SpendCredit(static_cast<int64_t>(answer.tasks.size()));
  v1::LeaseResponse tasks;
  WriteLease(&answer, &tasks);
  SealTokens(seal(), &tasks);
  for (size_t i = 0; i < answer.tasks.size(); ++i) {
    Held(answer.tasks[i].token, tasks.tasks(static_cast<int>(i)).lease_token(),
         model::LeaseState::kHeld);
  }
  response()->mutable_tasks()->Swap(tasks.mutable_tasks());
  response()->mutable_lease_remaining()->Swap(tasks.mutable_lease_remaining());
  pushed_ = std::move(answer);
}

// Of what does not fit, only answers and notices stay for the next message: tasks come before what
// is said of them.
std::unique_ptr<v1::WorkResponse> WorkStream::TakeMessage() {
  std::unique_ptr<v1::WorkResponse> message = std::move(response_);
  if (unsent_.bytes() <= model::kStreamBesideTasksBytes) {  // nearly always: tasks need no measure
    unsent_.Clear();
    return message;
  }
  int64_t beside = 0;
  for (const v1::LeasedTask& task : message->tasks()) {
    beside += static_cast<int64_t>(task.ByteSizeLong());
  }
  if (message->has_welcome()) beside += static_cast<int64_t>(message->welcome().ByteSizeLong());
  const bool fits = unsent_.FitsMessage(beside);
  unsent_.Clear();
  if (fits) return message;
  int64_t room = std::max(model::kStreamMessageBytesMax - beside, model::kStreamBesideTasksBytes);
  v1::WorkResponse* const rest = response();
  CutAnswers(&room, message->mutable_results(), rest->mutable_results(), &unsent_);
  CutAnswers(&room, message->mutable_heartbeats(), rest->mutable_heartbeats(), &unsent_);
  CutAnswers(&room, message->mutable_notices(), rest->mutable_notices(), &unsent_);
  return message;
}

Outgoing WorkStream::TakeOutgoing() {
  if (response_ == nullptr || is_greeting_) return {};
  std::unique_ptr<v1::WorkResponse> message = TakeMessage();
  return {std::move(message), [this, pushed = std::exchange(pushed_, {})](bool is_sent) mutable {
            if (!is_sent) broker_.HandBack(pushed);
            if (pushed.tasks.empty()) return;
            pushed = {};  // with the memory that it holds
            Fetch();
          }};
}

void WorkStream::FetchAfter(absl::Duration delay) {
  if (is_ending() || is_stopped_ || ends_ > 0) return;
  AddUnanswered(1);
  next_fetch_ = timer_.After(absl::ToChronoNanoseconds(delay), [this] {
    Update([this] { next_fetch_ = 0; });
    Fetch();
    Update([this] { AddUnanswered(-1); });
  });
}

void WorkStream::EndFetch() {
  std::shared_ptr<broker::PendingLease> fetch;
  Update([&] { fetch = fetch_; });
  if (fetch != nullptr) fetch->Cancel();
}

void WorkStream::OnEnding() {
  EndFetch();
  base::Timer::Id waits = 0;
  Update([&] { waits = std::exchange(next_fetch_, 0); });
  if (waits != 0 && timer_.Cancel(waits)) Update([this] { AddUnanswered(-1); });
}

}  // namespace skiplane::rpc
