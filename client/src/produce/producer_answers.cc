// The half of Producer that hears: answers, ends of streams, deadlines, cancellations.
#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "client/src/produce/producer.h"
#include "client/src/status.h"
#include "skiplane/error.h"

namespace skiplane::internal {
namespace {

using std::chrono::steady_clock;
using Place = Enqueue::Place;

// How long calls go alone when the broker has no such streams, and when one ended oddly.
constexpr std::chrono::minutes kUnaryWithoutStreams{5};
constexpr std::chrono::seconds kUnaryAfterFailure{30};
// Deadlines that lie closer together are one; what cannot go on yet is looked at as often.
constexpr std::chrono::milliseconds kGrain{10};
// A stream takes a place at the broker: one that nobody uses gives it back.
constexpr std::chrono::minutes kIdle{1};

}  // namespace

void Enqueue::Cancel() {
  const std::shared_ptr<Producer> to = producer.lock();
  if (to != nullptr) to->Cancel(self.lock());
}

void Producer::Cancel(const EnqueuePtr& enqueue) {
  PendingCall unary;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (enqueue == nullptr || enqueue->place == Place::kOver) return;
    enqueue->is_cancelled = true;
    unary = enqueue->unary;
    if (enqueue->place != Place::kUnary) {
      cancelled_.push_back(enqueue);
      SetTimerAt(steady_clock::now());
    }
  }
  unary.Cancel();
}

void Producer::Came(ProduceStream* stream, v1::ProduceResponse* response) {
  Work work;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (v1::ProduceResult& result : *response->mutable_results()) Take(&result, work);
    // The next one sends nothing on it any more; it ends when it is answered.
    if (response->draining() && stream == stream_.get()) stream_ = nullptr;
  }
  Do(std::move(work));
  Go();
}

void Producer::Take(v1::ProduceResult* result, Work& work) {
  const auto found = sent_.find(result->number());
  if (found == sent_.end()) return;  // its deadline has passed, or its caller has left
  const EnqueuePtr enqueue = found->second;
  Leave(*enqueue);
  if (!result->has_refusal()) {
    End(enqueue, std::move(*result->mutable_response()), work);
    return;
  }
  absl::Status refusal = FromProto(result->refusal());
  if (MayPass(refusal)) return PauseOrEnd(enqueue, refusal, work);
  End(enqueue, std::move(refusal), work);
}

void Producer::Leave(Enqueue& enqueue) {
  if (enqueue.place != Place::kStream) return;
  sent_tasks_ -= enqueue.tasks;
  sent_bytes_ -= enqueue.bytes;
  sent_.erase(enqueue.number);
}

void Producer::End(const EnqueuePtr& enqueue, Enqueue::Answer answer, Work& work) {
  enqueue->place = Place::kOver;
  work.over.push_back({enqueue, std::move(answer)});
}

void Producer::PauseOrEnd(const EnqueuePtr& enqueue, const absl::Status& status, Work& work) {
  const Connection& connection = *enqueue->connection;
  const absl::Duration pause = connection.PauseAfter(enqueue->attempt, RetryDelay(status));
  const Time now = steady_clock::now();
  if (enqueue->attempt >= connection.options().max_attempts ||
      pause >= absl::FromChrono(enqueue->deadline - now)) {
    return End(enqueue, status, work);
  }
  enqueue->place = Place::kPause;
  const Time due = now + absl::ToChronoNanoseconds(pause);
  paused_.emplace(due, enqueue);
  SetTimerAt(due);
}

// In the order in which they were sent.
std::vector<EnqueuePtr> Producer::UnansweredOf(const ProduceStream* stream) {
  std::vector<EnqueuePtr> unanswered;
  for (const auto& [number, enqueue] : sent_) {
    if (enqueue->stream == stream) unanswered.push_back(enqueue);
  }
  std::sort(unanswered.begin(), unanswered.end(),
            [](const EnqueuePtr& a, const EnqueuePtr& b) { return a->number < b->number; });
  for (const EnqueuePtr& enqueue : unanswered) Leave(*enqueue);
  return unanswered;
}

void Producer::Ended(ProduceStream* stream, const absl::Status& status) {
  Work work;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stream == stream_.get()) stream_ = nullptr;
    const std::vector<EnqueuePtr> unanswered = UnansweredOf(stream);
    const bool has_new_token =
        absl::IsUnauthenticated(status) && !unanswered.empty() &&
        unanswered[0]->connection->token().IsOther(stream->token());
    if (absl::IsUnavailable(status)) {
      for (const EnqueuePtr& enqueue : unanswered) PauseOrEnd(enqueue, status, work);
    } else if (status.ok() || has_new_token) {
      Requeue(unanswered, work);
    } else if (!unanswered.empty() || absl::IsUnimplemented(status)) {
      // The fault may be that of one of them: by calls of its own each is told its own.
      unary_until_ = steady_clock::now() + (absl::IsUnimplemented(status)
                                                ? steady_clock::duration(kUnaryWithoutStreams)
                                                : steady_clock::duration(kUnaryAfterFailure));
      for (const EnqueuePtr& enqueue : unanswered) GiveAway(enqueue, work);
    }
  }
  Do(std::move(work));
  Go();
}

void Producer::Requeue(const std::vector<EnqueuePtr>& enqueues, Work& work) {
  for (auto i = enqueues.rbegin(); i != enqueues.rend(); ++i) {
    if ((*i)->attempt >= (*i)->connection->options().max_attempts) {
      End(*i, absl::UnavailableError("the broker ended the stream without an answer"), work);
      continue;
    }
    (*i)->place = Place::kQueue;
    queue_.push_front(*i);
  }
}

void Producer::GiveAway(const EnqueuePtr& enqueue, Work& work) {
  enqueue->place = Place::kUnary;
  work.unary.push_back(enqueue);
}

void Producer::GiveQueueAway(Work& work) {
  for (const EnqueuePtr& enqueue : queue_) {
    if (enqueue->place == Place::kQueue) GiveAway(enqueue, work);
  }
  queue_.clear();
}

void Producer::OnTimer() {
  Work work;
  std::shared_ptr<ProduceStream> idle;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_closed_) return;
    timer_.Fired();
    const Time now = steady_clock::now();
    for (const EnqueuePtr& enqueue : std::exchange(cancelled_, {})) {
      EndEarly(enqueue, absl::CancelledError("cancelled by the caller"), work);
    }
    if (now >= earliest_deadline_) EndOverdue(now, work);
    while (!paused_.empty() && paused_.begin()->first <= now) {
      const EnqueuePtr enqueue = paused_.extract(paused_.begin()).mapped();
      if (enqueue->place != Place::kPause) continue;
      if (enqueue->message == nullptr) {  // an old stream is not done with writing it
        paused_.emplace(now + kGrain, enqueue);
        continue;
      }
      enqueue->place = Place::kQueue;
      queue_.push_back(enqueue);
    }
    const bool is_idle = queue_.empty() && sent_.empty() && paused_.empty();
    if (is_idle && now - used_ >= kIdle) idle = std::exchange(stream_, nullptr);
    SetTimer(now);
  }
  if (idle != nullptr) idle->Close();
  Do(std::move(work));
  Go();
}

void Producer::EndEarly(const EnqueuePtr& enqueue, absl::Status status, Work& work) {
  if (enqueue->place == Place::kOver || enqueue->place == Place::kUnary) return;
  Leave(*enqueue);
  End(enqueue, std::move(status), work);
}

void Producer::EndOverdue(Time now, Work& work) {
  std::vector<EnqueuePtr> all(queue_.begin(), queue_.end());
  for (const auto& [number, enqueue] : sent_) all.push_back(enqueue);
  for (const auto& [due, enqueue] : paused_) all.push_back(enqueue);
  earliest_deadline_ = Time::max();
  for (const EnqueuePtr& enqueue : all) {
    if (enqueue->place == Place::kOver) continue;
    if (enqueue->deadline <= now) {
      EndEarly(enqueue, absl::DeadlineExceededError("the broker has not answered in time"), work);
    } else {
      earliest_deadline_ = std::min(earliest_deadline_, enqueue->deadline);
    }
  }
}

void Producer::SetTimer(Time now) {
  if (!paused_.empty()) SetTimerAt(paused_.begin()->first);
  if (earliest_deadline_ != Time::max()) {
    SetTimerAt(std::max(earliest_deadline_, now + kGrain));
  }
  if (stream_ != nullptr) SetTimerAt(std::max(used_ + kIdle, now + kGrain));
}

void Producer::SetTimerAt(Time time) {
  if (timer_.IsLaterThan(time)) timer_.Set(time, [self = shared_from_this()] { self->OnTimer(); });
}

}  // namespace skiplane::internal
