#include "server/http/connection.h"

#include <utility>

#include <boost/asio/post.hpp>

#include "server/http/connection_call.h"

namespace skiplane::http {
namespace {

constexpr size_t kReadBytes = 1 << 10;
constexpr size_t kReadBodyBytes = 16 << 10;

}  // namespace

Connection::Connection(std::unique_ptr<Transport> transport, Peer peer, const Shared& shared)
    : membership_{shared.set, this},
      shared_(shared),
      answers_(shared.bytes),
      transport_(std::move(transport)),
      writer_(*this, *transport_, answers_, shared.limits.write),
      caller_{std::move(peer.address), ""},
      party_(std::move(peer.party)),
      timer_(transport_->executor()) {}

void Connection::Start() {
  answers_.OnGivenUp([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self != nullptr) boost::asio::post(self->executor(), [self] { self->Close(); });
  });
  boost::asio::post(executor(), [self = shared_from_this()] {
    self->Within(self->shared_.limits.handshake);
    self->transport_->ShakeHands([self](bool good) {
      if (!good || self->phase_ == Phase::kClosed) return self->Close();
      self->caller_.name = self->transport_->PeerName();
      self->caller_.certificate_expires = self->transport_->PeerExpiry();
      self->NextRequest();
    });
  });
}

void Connection::Read() {
  if (is_reading_ || phase_ == Phase::kClosed || other_end_closed_) return;
  is_reading_ = true;
  const size_t size = phase_ == Phase::kBody ? kReadBodyBytes : kReadBytes;
  if (inbox_.size() != size) inbox_ = std::string(size, '\0');
  transport_->Read(inbox_.data(), inbox_.size(),
                   [self = shared_from_this()](size_t bytes) { self->OnRead(bytes); });
}

void Connection::OnRead(size_t bytes) {
  is_reading_ = false;
  if (phase_ == Phase::kClosed) return;
  if (bytes == 0) return OnOtherEndClosed();
  if (phase_ != Phase::kLingering) unread_.append(inbox_, 0, bytes);
  Advance();
  if (phase_ == Phase::kFinishing && closes_) unread_.clear();  // nobody will look at it
  const bool waits = phase_ == Phase::kAnswering || phase_ == Phase::kFinishing;
  if (waits && unread_.size() > shared_.limits.ahead_bytes) return Close();
  Read();
}

void Connection::OnOtherEndClosed() {
  other_end_closed_ = true;
  // An answer that is on its way goes on: who has only ended its sending side reads it.
  if (phase_ == Phase::kFinishing) return;
  // So does one that is made already when its call is given up: tasks in it would be lost for long.
  if (phase_ == Phase::kAnswering && left_ != nullptr && !has_begun_) {
    Within(shared_.limits.write);
    return std::exchange(left_, nullptr)();
  }
  Close();
}

void Connection::Advance() {
  while (Step()) {
  }
}

// Returns whether there may be more to do.
bool Connection::Step() {
  const bool reads = phase_ == Phase::kIdle || phase_ == Phase::kHead || phase_ == Phase::kBody;
  if (!reads || unread_.empty()) return false;
  if (phase_ == Phase::kIdle) {
    phase_ = Phase::kHead;
    Within(shared_.limits.head);
  }
  const RequestParser::Step step = parser_->Read(unread_);
  unread_.erase(0, step.taken);
  switch (step.event) {
    case RequestParser::Event::kMore: break;
    case RequestParser::Event::kHead: OnHead(); return true;
    case RequestParser::Event::kDone:
      CountBody();
      if (phase_ == Phase::kBody) Dispatch();
      return false;
    case RequestParser::Event::kMalformed: Fail(400, "this is no HTTP/1.1"); return false;
    case RequestParser::Event::kHeadTooLarge: Fail(431, "the header is too large"); return false;
    case RequestParser::Event::kBodyTooLarge: Fail(413, "the body is too large"); return false;
  }
  CountBody();
  return step.taken > 0;
}

void Connection::OnHead() {
  closes_ = !parser_->KeepsConnection() || shared_.set.is_draining();
  std::optional<Response> refusal = shared_.handler.Refuse(parser_->head(), caller_);
  if (!refusal && !shared_.bytes.HasRoom()) {
    refusal = shared_.handler.Failure(429, kNoRoom, parser_->head());
  }
  // A body that nobody reads would be taken for the next request.
  if (refusal) return Refuse(*std::move(refusal), closes_ || !parser_->IsDone());
  if (parser_->IsDone()) return Dispatch();
  BeginBody();
}

void Connection::BeginBody() {
  phase_ = Phase::kBody;
  if (parser_->ExpectsContinue()) writer_.Write("HTTP/1.1 100 Continue\r\n\r\n", 0);
  Within(shared_.limits.body);
}

void Connection::CountBody() {
  if (phase_ != Phase::kBody || parser_->body_bytes() <= shared_.limits.free_body_bytes) return;
  const auto bytes = static_cast<int64_t>(parser_->body_bytes());
  const ByteBudget::Bodies room =
      shared_.bytes.HoldBody(party_, bytes - std::exchange(counted_body_, bytes));
  if (room == ByteBudget::Bodies::kAddressIsFull) return Fail(429, kNoRoomForAddress);
  if (room == ByteBudget::Bodies::kFull) Fail(429, kNoRoom);
}

void Connection::DropBody() {
  if (counted_body_ == 0) return;
  parser_->TakeBody();
  shared_.bytes.HoldBody(party_, -std::exchange(counted_body_, 0));
}

void Connection::Dispatch() {
  WithoutLimit();
  phase_ = Phase::kAnswering;
  has_begun_ = false;
  Request request{parser_->head(), parser_->TakeBody(), caller_};
  call_ = std::make_shared<Call>(shared_from_this(), std::exchange(counted_body_, 0));
  if (shared_.workers.IsNeededFor(request)) return HandleOnWorker(std::move(request));
  shared_.handler.Handle(std::move(request), call_);
}

void Connection::HandleOnWorker(Request request) {
  auto handed = std::make_shared<Request>(std::move(request));
  shared_.workers.Run(*handed, [self = shared_from_this(), call = call_, handed] {
    Request taken = std::move(*handed);
    if (!call->has_left()) self->shared_.handler.Handle(std::move(taken), call);
  });
}

void Connection::NextRequest() {
  phase_ = Phase::kIdle;
  parser_.emplace(shared_.limits.head_bytes, shared_.limits.body_bytes);
  if (has_answered_ && shared_.set.is_draining() && unread_.empty()) return Close();
  Within(shared_.limits.idle);
  Advance();
  Read();
}

void Connection::EndWhenAnswered() {
  if (has_answered_ && phase_ == Phase::kIdle && unread_.empty()) Close();
}

void Connection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  WithoutLimit();
  transport_->Close();
  writer_.Close();
  DropBody();
  sent_ = nullptr;
  if (call_ != nullptr) call_->Leave();
  call_.reset();
  if (const auto left = std::exchange(left_, nullptr)) left();
}

void Connection::Within(absl::Duration time) {
  timer_.expires_after(absl::ToChronoNanoseconds(time));
  timer_.async_wait([weak = weak_from_this(), round = ++timer_round_](const auto& error) {
    const auto self = weak.lock();
    if (!error && self != nullptr && round == self->timer_round_) self->OnTimeOut();
  });
}

void Connection::WithoutLimit() {
  ++timer_round_;
  timer_.cancel();
}

void Connection::OnTimeOut() {
  const bool is_half_sent = phase_ == Phase::kHead || phase_ == Phase::kBody;
  if (is_half_sent && writer_.is_idle()) return Fail(408, "the request did not come in time");
  Close();
}

}  // namespace skiplane::http
