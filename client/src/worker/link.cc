#include "client/src/worker/link.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/src/worker/ack_item.h"

namespace skiplane::internal {
namespace {

using std::chrono::steady_clock;

constexpr int kItemsPerMessage = 1000;
constexpr size_t kBytesPerMessage = size_t{3} << 20;
constexpr int kFollowUpsPerMessage = 1000;
constexpr int kLeasesPerHeartbeat = 1000;
constexpr int kCreditMax = 1000;
// A broker that owes an answer for longer is given up, whatever the lease duration is.
constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr absl::Duration kCloseAtMost = absl::Seconds(2);

std::chrono::nanoseconds PatienceFor(absl::Duration interval) {
  return absl::ToChronoNanoseconds(std::max(interval * 2, kPatience));
}

}  // namespace

Link::Link(std::shared_ptr<Connection> connection, LinkPlan plan, Command& command,
           Holdings& holdings, Tally& tally, Settler& settler)
    : connection_(std::move(connection)),
      plan_(std::move(plan)),
      interval_(plan_.lease_duration / 3),
      command_(command),
      holdings_(holdings),
      tally_(tally),
      settler_(settler) {}

void Link::Begin() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_unary_ = false;
    begin_at_ = steady_clock::now();
  }
  Go();
}

void Link::Go() {
  std::shared_ptr<WorkStream> stream;
  bool is_new = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_closed_ || is_unary_) return;
    if (stream_ == nullptr && begin_at_ && *begin_at_ <= steady_clock::now()) {
      begin_at_.reset();
      stream_ = std::make_shared<WorkStream>(shared_from_this(), mutex_);
      is_new = true;
      Await();
    }
    stream = stream_;
    SetTimer();
  }
  if (stream == nullptr) return;
  if (!is_new) return stream->Push();
  stream->Begin(*connection_, stream,
                [](Backend& backend, grpc::ClientContext* context, WorkStream* reactor) {
                  backend.broker->async()->Work(context, reactor);
                });
}

SettlementPtr Link::Take(HoldPtr hold, Result result) {
  const size_t bytes = BytesOf(result);
  auto settlement =
      std::make_shared<Settlement>(Settlement{std::move(hold), std::move(result), bytes, nullptr});
  const std::lock_guard<std::mutex> lock(mutex_);
  ++unsettled_;
  return settlement;
}

void Link::Queue(SettlementPtr settlement, bool has_run) {
  // One that fills a message alone is left to who knows how to cut it down to size.
  bool is_for_settler = is_unary_ || settlement->bytes > kBytesPerMessage;
  absl::Status status;
  if (!is_for_settler) status = Encode(connection_->options(), *settlement);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (has_run) holdings_.Ran(settlement->hold);
    is_for_settler |= is_unary_;  // since just now
    if (!is_for_settler && status.ok()) queue_.push_back(settlement);
  }
  if (!status.ok()) {
    tally_.Error(status);
    return Refused(settlement, status);
  }
  if (!is_for_settler) return Go();
  settler_.Add(settlement->hold, std::move(settlement->result));
  const std::lock_guard<std::mutex> lock(mutex_);
  --unsettled_;
  changed_.notify_all();
}

void Link::Ran(const HoldPtr& hold) {
  holdings_.Ran(hold);
  Go();
}

bool Link::Fill(WorkStream* stream, v1::WorkRequest* request) {
  if (stream != stream_.get() || is_closed_) return false;
  if (!std::exchange(is_greeted_, true)) {
    WriteHello(request);
    return true;
  }
  if (!is_welcome_ || is_draining_) return false;
  const bool settles = WriteSettlements(stream, request);
  const bool beats = WriteHeartbeat(request);
  return WriteCredit(request) || settles || beats;
}

void Link::WriteHello(v1::WorkRequest* request) {
  *request->mutable_hello() = plan_.hello;
  greeted_ = holdings_.All();
  for (const HoldPtr& hold : greeted_) {
    request->mutable_hello()->add_leases()->set_lease_token(hold->task().lease_token);
  }
  WriteCredit(request);
}

bool Link::WriteSettlements(WorkStream* stream, v1::WorkRequest* request) {
  size_t bytes = 0;
  int follow_ups = 0;
  while (!queue_.empty() && request->settlements_size() < kItemsPerMessage) {
    const SettlementPtr& next = queue_.front();
    bytes += next->bytes;
    follow_ups += static_cast<int>(next->result.more().follow_ups.size());
    const bool fits = bytes <= kBytesPerMessage && follow_ups <= kFollowUpsPerMessage;
    if (!fits && request->settlements_size() > 0) break;
    next->message->set_number(++number_);
    request->mutable_settlements()->AddAllocated(next->message.release());
    sent_.emplace(number_, next);
    stream->writing.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return request->settlements_size() > 0;
}

bool Link::WriteHeartbeat(v1::WorkRequest* request) {
  if (!is_beat_due_) return false;
  v1::WorkHeartbeat* const heartbeat = request->mutable_heartbeat();
  heartbeat->set_number(++number_);
  std::vector<HoldPtr>& holds = beats_[number_];
  while (!to_beat_.empty() && heartbeat->leases_size() < kLeasesPerHeartbeat) {
    HeldLease lease = to_beat_.front()->Heartbeat();
    v1::HeldLease* const wire = heartbeat->add_leases();
    wire->set_lease_token(std::move(lease.lease_token));
    if (lease.progress) {
      wire->mutable_progress()->set_fraction(lease.progress->fraction);
      wire->mutable_progress()->set_message(std::move(lease.progress->message));
    }
    holds.push_back(std::move(to_beat_.front()));
    to_beat_.pop_front();
  }
  is_beat_due_ = !to_beat_.empty();
  Await();
  return true;
}

bool Link::WriteCredit(v1::WorkRequest* request) {
  if (!is_taking_ || holdings_.IsQuiet()) {  // nothing is to come, to be handed back
    if (credit_ > 0) request->set_withdraw_credit(true);
    return std::exchange(credit_, 0) > 0;
  }
  int64_t room = holdings_.Vacant();
  if (plan_.max_tasks > 0) room = std::min(room, plan_.max_tasks - holdings_.taken());
  const auto more = static_cast<int>(std::min<int64_t>(room, kCreditMax)) - credit_;
  if (more <= 0) return false;
  credit_ += more;
  request->set_credit(more);
  return true;
}

// Each message comes back to its settlement, which may have to be sent again.
void Link::Sent(WorkStream* stream, v1::WorkRequest* request) {
  while (!stream->writing.empty()) {
    auto* const settlement = static_cast<Settlement*>(stream->writing.back().get());
    settlement->message.reset(request->mutable_settlements()->ReleaseLast());
    stream->writing.pop_back();
  }
}

void Link::Await() {
  if (!awaited_since_) awaited_since_ = steady_clock::now();
}

void Link::OnTimer() {
  std::shared_ptr<WorkStream> given_up;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_closed_) return;
    ++busy_;
    timer_.Fired();
    const Time now = steady_clock::now();
    if (later_at_ && *later_at_ <= now) {
      later_at_.reset();
      for (SettlementPtr& settlement : std::exchange(later_, {})) {
        queue_.push_back(std::move(settlement));
      }
    }
    if (beat_at_ && *beat_at_ <= now) {
      beat_at_ = now + absl::ToChronoNanoseconds(interval_);
      const std::vector<HoldPtr> holds = holdings_.All();
      to_beat_.assign(holds.begin(), holds.end());
      is_beat_due_ = true;
    }
    if (awaited_since_ && now >= *awaited_since_ + PatienceFor(interval_)) {
      given_up = stream_;
      is_given_up_ = given_up != nullptr;
      awaited_since_ = now;
    }
  }
  if (given_up != nullptr) given_up->Cancel();
  Go();
  const std::lock_guard<std::mutex> lock(mutex_);
  --busy_;
  changed_.notify_all();
}

void Link::SetTimer() {
  Time next = Time::max();
  if (stream_ == nullptr && begin_at_) next = std::min(next, *begin_at_);
  if (later_at_) next = std::min(next, *later_at_);
  if (beat_at_) next = std::min(next, *beat_at_);
  if (stream_ != nullptr && awaited_since_) {
    next = std::min(next, *awaited_since_ + PatienceFor(interval_));
  }
  if (next == Time::max() || !timer_.IsLaterThan(next)) return;
  timer_.Set(next, [self = shared_from_this()] { self->OnTimer(); });
}

void Link::StopTaking() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_taking_ = false;
  }
  Go();
  ReleaseWaiting();
}

void Link::ReleaseWaiting() {
  for (const HoldPtr& hold : holdings_.TakeWaiting()) {
    if (hold->Withdraw()) Add(hold, Result::Release());
  }
}

void Link::WaitUntilSettled(absl::Duration at_most) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(at_most), [this] { return unsettled_ == 0; });
}

void Link::Close() {
  std::unique_lock<std::mutex> lock(mutex_);
  is_closed_ = true;
  timer_.Cancel();
  const std::shared_ptr<WorkStream> stream = stream_;
  const auto has_ended = [this] { return stream_ == nullptr && busy_ == 0; };
  if (stream != nullptr) {
    lock.unlock();
    stream->Close();
    lock.lock();
    if (!changed_.wait_for(lock, absl::ToChronoNanoseconds(kCloseAtMost), has_ended)) {
      lock.unlock();
      stream->Cancel();
      lock.lock();
    }
  }
  changed_.wait(lock, has_ended);
}

}  // namespace skiplane::internal
