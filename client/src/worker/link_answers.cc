// The half of Link that hears: tasks, answers, and ends of streams.
#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/string_view.h"
#include "client/src/content.h"
#include "client/src/convert_enum.h"
#include "client/src/convert_task.h"
#include "client/src/status.h"
#include "client/src/worker/ack_item.h"
#include "client/src/worker/link.h"
#include "skiplane/error.h"

namespace skiplane::internal {
namespace {

using std::chrono::steady_clock;

constexpr absl::Duration kPauseAfterRefusal = absl::Seconds(1);
constexpr int kFailuresMax = 3;  // that make the pause longer: up to a second with the defaults

LeaseAnswer TasksOf(const ClientOptions& options, v1::WorkResponse* response) {
  v1::LeaseResponse lease;
  lease.mutable_tasks()->Swap(response->mutable_tasks());
  LeaseAnswer answer = FromProto(std::move(lease));
  DecodeTasks(options, answer);
  return answer;
}

SettleResult ResultOf(v1::WorkResult* result) {
  v1::SettleResponse response;
  response.add_results()->Swap(result->mutable_result());
  return std::move(FromProto(response)[0]);
}

// In place of what gRPC says of a stream that was cancelled here.
absl::Status TooLate() {
  return absl::UnavailableError("the broker owed an answer for too long: another stream is begun");
}

// The key that signed it is gone, or the broker takes the worker for somebody else.
bool IsOfToken(const absl::Status& status) { return ErrorReason(status) == "INVALID_LEASE_TOKEN"; }

// The broker ends a stream for a message that it cannot take, and gRPC for one that is too large.
bool MayBlameAResult(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsInternal(status) ||
         (absl::IsResourceExhausted(status) && ErrorReason(status).empty());
}

}  // namespace

void Link::Came(WorkStream*, v1::WorkResponse* response) {
  Heard heard;
  LeaseAnswer answer = TasksOf(connection_->options(), response);
  bool is_taking = true;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (response->has_welcome()) TakeWelcome(response->welcome(), heard);
    credit_ = std::max(0, credit_ - static_cast<int>(answer.tasks.size()));
    if (!answer.tasks.empty()) holdings_.Add(std::move(answer.tasks));
    for (v1::WorkResult& result : *response->mutable_results()) {
      const auto sent = sent_.find(result.number());
      if (sent == sent_.end()) continue;
      heard.results.emplace_back(std::move(sent->second), &result);
      sent_.erase(sent);
    }
    for (const auto& result : response->heartbeats()) TakeHeartbeat(result, heard);
    TakeNotices(*response, heard);
    if (response->draining() && !std::exchange(is_draining_, true)) Await();
    is_taking = is_taking_;
  }
  Do(std::move(heard));
  if (!is_taking) ReleaseWaiting();
  Go();
}

void Link::TakeWelcome(const v1::WorkWelcome& welcome, Heard& heard) {
  is_welcome_ = true;
  failures_ = 0;
  denial_pause_ = {};
  awaited_since_.reset();
  beat_at_ = steady_clock::now() + absl::ToChronoNanoseconds(interval_);
  for (size_t i = 0; i < greeted_.size(); ++i) {
    const bool is_answered = static_cast<int>(i) < welcome.leases_size();
    TakeState(is_answered ? welcome.leases(static_cast<int>(i)).state() : v1::LEASE_STATE_LOST,
              greeted_[i], heard);
  }
  greeted_.clear();
}

void Link::TakeState(v1::LeaseState state, const HoldPtr& hold, Heard& heard) {
  if (state == v1::LEASE_STATE_LOST) heard.lost.push_back(hold);
  if (state == v1::LEASE_STATE_CANCEL_REQUESTED) heard.asked_to_stop.push_back(hold);
}

void Link::TakeHeartbeat(const v1::WorkHeartbeatResult& result, Heard& heard) {
  const auto found = beats_.find(result.number());
  if (found == beats_.end()) return;
  const std::vector<HoldPtr> holds = std::move(found->second);
  beats_.erase(found);
  if (beats_.empty() && !is_draining_) awaited_since_.reset();
  if (result.has_refusal()) {
    heard.error = FromProto(result.refusal());
    heard.begins_anew = IsOfToken(heard.error);
    const auto soon = absl::ToChronoNanoseconds(std::min(interval_, kPauseAfterRefusal));
    beat_at_ = std::min(*beat_at_, steady_clock::now() + soon);
    return;
  }
  const v1::HeartbeatResponse& response = result.response();
  heard.command = FromProto(response.command());
  for (size_t i = 0; i < holds.size(); ++i) {
    const bool is_answered =
        response.session_alive() && static_cast<int>(i) < response.results_size();
    TakeState(is_answered ? response.results(static_cast<int>(i)).state() : v1::LEASE_STATE_LOST,
              holds[i], heard);
  }
}

void Link::TakeNotices(const v1::WorkResponse& response, Heard& heard) {
  if (response.notices().empty()) return;
  absl::flat_hash_map<absl::string_view, v1::LeaseState> states;
  for (const v1::LeaseNotice& notice : response.notices()) {
    states[notice.lease_token()] = notice.state();
  }
  for (const HoldPtr& hold : holdings_.All()) {
    const auto told = states.find(hold->task().lease_token);
    if (told != states.end()) TakeState(told->second, hold, heard);
  }
}

void Link::Do(Heard heard) {
  Heard later;
  for (const auto& [settlement, result] : heard.results) Account(settlement, result, later);
  if (!later.error.ok()) tally_.Error(later.error);
  if (!heard.error.ok()) tally_.Error(heard.error);
  if (heard.command) command_.Heard(*heard.command);
  for (const HoldPtr& hold : heard.lost) Lose(hold);
  for (const SettlementPtr& settlement : heard.ended) End(settlement, AttemptEnd::kLost);
  for (const HoldPtr& hold : heard.asked_to_stop) hold->RequestStop();
  for (SettlementPtr& settlement : heard.unary) {
    settler_.Add(settlement->hold, std::move(settlement->result));
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    unsettled_ -= static_cast<int>(heard.unary.size());
    changed_.notify_all();
  }
  if (heard.goes_unary) plan_.on_unary();
  if (heard.begins_anew) BeginAnew();
}

// The broker takes back what the next hello does not name: nobody could settle it.
void Link::BeginAnew() {
  std::shared_ptr<WorkStream> stream;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stream = stream_;
  }
  if (stream != nullptr) stream->Cancel();
}

void Link::Account(const SettlementPtr& settlement, v1::WorkResult* result, Heard& later) {
  if (!result->has_refusal()) {
    const SettleResult settled = ResultOf(result);
    if (settled.outcome != SettleOutcome::kRefused) {
      return End(settlement, EndOf(settlement->result.kind(), settled));
    }
    tally_.Error(settled.refusal);
    return Refused(settlement, settled.refusal);
  }
  const absl::Status refusal = FromProto(result->refusal());
  if (IsRefusal(refusal)) {
    tally_.Error(refusal);
    return Refused(settlement, refusal);
  }
  later.error = refusal;  // of many that are refused alike one is told
  const absl::Duration pause = RetryDelay(refusal).value_or(kPauseAfterRefusal);
  const std::lock_guard<std::mutex> lock(mutex_);
  later_.push_back(settlement);
  if (!later_at_) later_at_ = steady_clock::now() + absl::ToChronoNanoseconds(pause);
}

// As the settler does.
void Link::Refused(const SettlementPtr& settlement, const absl::Status& refusal) {
  const bool is_of_token = IsOfToken(refusal);
  if (is_of_token || settlement->result.kind() != Result::Kind::kDone) {
    End(settlement, AttemptEnd::kLost);
    if (is_of_token) BeginAnew();
    return;
  }
  Result failure = FromRefusal(refusal);
  const size_t bytes = BytesOf(failure);
  Queue(std::make_shared<Settlement>(
            Settlement{settlement->hold, std::move(failure), bytes, nullptr}),
        false);
}

void Link::End(const SettlementPtr& settlement, AttemptEnd end) {
  tally_.Ended(settlement->hold->task(), end);
  holdings_.Remove(settlement->hold);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--unsettled_ == 0) changed_.notify_all();
}

void Link::Lose(const HoldPtr& hold) {
  // False for a result that is being sent: what the broker says to that counts.
  if (!hold->Lose()) return;
  tally_.Ended(hold->task(), AttemptEnd::kLost);
  holdings_.Remove(hold);
}

void Link::Ended(WorkStream* stream, const absl::Status& status) {
  Heard heard;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++busy_;
    const bool was_given_up = std::exchange(is_given_up_, false);
    TakeEnd(*stream, was_given_up ? TooLate() : status, heard);
    stream_ = nullptr;
  }
  Do(std::move(heard));
  Go();
  const std::lock_guard<std::mutex> lock(mutex_);
  --busy_;
  changed_.notify_all();
}

void Link::TakeEnd(const WorkStream& stream, const absl::Status& status, Heard& heard) {
  std::vector<std::pair<int64_t, SettlementPtr>> unanswered(sent_.begin(), sent_.end());
  std::sort(unanswered.begin(), unanswered.end());
  const bool blames = is_welcome_ && MayBlameAResult(status);
  for (auto i = unanswered.rbegin(); i != unanswered.rend(); ++i) {
    if (blames) {
      heard.unary.push_back(i->second);
    } else {
      queue_.push_front(i->second);
    }
  }
  const bool was_welcome = std::exchange(is_welcome_, false);
  const bool was_draining = std::exchange(is_draining_, false);
  is_greeted_ = false;
  credit_ = 0;
  greeted_.clear();
  sent_.clear();
  to_beat_.clear();
  is_beat_due_ = false;
  beats_.clear();
  awaited_since_.reset();
  beat_at_.reset();
  if (is_closed_) return;
  const bool is_hello_refused = !was_welcome && IsOfToken(status);
  if (is_hello_refused) {
    heard.ended.assign(queue_.begin(), queue_.end());
    heard.ended.insert(heard.ended.end(), later_.begin(), later_.end());
    queue_.clear();
    later_.clear();
    later_at_.reset();
  }
  if (is_hello_refused || ErrorReason(status) == "SESSION_LOST") heard.lost = holdings_.All();
  if (absl::IsUnimplemented(status)) {
    is_unary_ = true;
    heard.goes_unary = true;
    heard.unary.insert(heard.unary.end(), queue_.begin(), queue_.end());
    heard.unary.insert(heard.unary.end(), later_.begin(), later_.end());
    queue_.clear();
    later_.clear();
    later_at_.reset();
    return;
  }
  const bool has_new_token =
      absl::IsUnauthenticated(status) && connection_->token().IsOther(stream.token());
  const bool is_planned = was_welcome && was_draining;
  if (!is_planned && !has_new_token) heard.error = status;
  begin_at_ = steady_clock::now();
  if (!is_planned && !has_new_token) *begin_at_ += absl::ToChronoNanoseconds(PauseAfter(status));
}

absl::Duration Link::PauseAfter(const absl::Status& status) {
  failures_ = std::min(failures_ + 1, kFailuresMax);
  // What is wrong with the call itself does not pass at once.
  const bool may_pass = absl::IsUnavailable(status) || absl::IsAborted(status);
  return std::max({denial_pause_.After(status),
                   may_pass ? absl::ZeroDuration() : kPauseAfterRefusal,
                   connection_->PauseAfter(failures_, RetryDelay(status))});
}

}  // namespace skiplane::internal
