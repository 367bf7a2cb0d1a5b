// The answering half of a connection.
#include <utility>

#include "absl/time/clock.h"
#include "server/http/connection.h"
#include "server/http/connection_call.h"

namespace skiplane::http {
namespace {

// A larger body is not copied to stand behind its head.
constexpr size_t kCopiedBytes = 16 << 10;

int64_t BytesOf(const std::string& text) { return static_cast<int64_t>(text.size()); }

}  // namespace

void Connection::Answer(const Call* call, Response response) {
  if (call != call_.get() || phase_ != Phase::kAnswering) {
    return answers_.Hold(-BytesOf(response.body));
  }
  // Who has left is told only of what was done for it all the same.
  if (other_end_closed_ && response.status != 200) {
    answers_.Hold(-BytesOf(response.body));
    return Close();
  }
  WithoutLimit();
  Finish(std::move(response), closes_ || shared_.set.is_draining());
}

void Connection::Begin(const Call* call, const Response& head) {
  if (call != call_.get() || phase_ != Phase::kAnswering) return;
  if (other_end_closed_) return Close();
  has_begun_ = true;
  is_chunked_ = parser_->head().minor_version > 0;
  closes_ = closes_ || !is_chunked_ || shared_.set.is_draining();
  const auto body = is_chunked_ ? Framing::Body::kChunks : Framing::Body::kToTheEnd;
  writer_.Write(HeadText(head, {body, closes_}, absl::Now()), 0);
}

void Connection::Send(const Call* call, std::string bytes, std::function<void()> sent) {
  const int64_t held = BytesOf(bytes);
  if (call != call_.get() || phase_ != Phase::kAnswering) return answers_.Hold(-held);
  sent_ = std::move(sent);
  writer_.Write(is_chunked_ ? Chunk(bytes) : std::move(bytes), held);
}

void Connection::End(const Call* call) {
  if (call != call_.get() || phase_ != Phase::kAnswering) return;
  phase_ = Phase::kFinishing;
  left_ = nullptr;
  call_.reset();
  if (is_chunked_) writer_.Write(Chunk(""), 0);
  if (writer_.is_idle()) OnAllWritten();
}

void Connection::OnLeft(const Call* call, std::function<void()> left) {
  if (call == call_.get() && phase_ == Phase::kAnswering) {
    left_ = std::move(left);
  } else if (phase_ == Phase::kClosed) {
    left();
  }
}

void Connection::Refuse(Response response, bool closes) {
  answers_.Hold(BytesOf(response.body));
  Finish(std::move(response), closes);
}

void Connection::Fail(int status, absl::string_view message) {
  Refuse(shared_.handler.Failure(status, message, parser_->head()), true);
}

void Connection::Finish(Response response, bool closes) {
  phase_ = Phase::kFinishing;
  closes_ = closes;
  left_ = nullptr;
  call_.reset();
  DropBody();
  const bool is_head = parser_->head().method == "HEAD";
  const bool is_made = !is_head || !response.body.empty();
  const auto body = is_made ? Framing::Body::kLength : Framing::Body::kUntold;
  std::string head = HeadText(response, {body, closes}, absl::Now());
  const int64_t held = BytesOf(response.body);
  if (is_head) {
    answers_.Hold(-held);
    writer_.Write(std::move(head), 0);
  } else if (response.body.size() <= kCopiedBytes) {
    writer_.Write(std::move(head) + response.body, held);
  } else {
    writer_.Write(std::move(head), 0);
    writer_.Write(std::move(response.body), held);
  }
}

void Connection::OnAllWritten() {
  if (const auto sent = std::exchange(sent_, nullptr)) sent();
  if (phase_ != Phase::kFinishing || !writer_.is_idle()) return;
  has_answered_ = true;
  if (closes_ || other_end_closed_ || shared_.set.is_draining()) return Linger();
  NextRequest();
}

// To close with bytes unread would make the kernel throw our answer away. An answer to half a
// request has a length: whoever still sends the rest knows its end without the connection's.
void Connection::Linger() {
  phase_ = Phase::kLingering;
  unread_.clear();
  if (parser_->IsDone() || !transport_->EndsBoth() || other_end_closed_) {
    transport_->EndSending([self = shared_from_this()] {
      if (self->other_end_closed_) self->Close();
    });
  }
  Within(shared_.limits.linger);
  Read();
}

}  // namespace skiplane::http
