#include "server/http/writer.h"

#include <utility>

#include "absl/strings/string_view.h"

namespace skiplane::http {

Writer::Writer(Owner& owner, Transport& transport, ByteBudget::Account& answers,
               absl::Duration patience)
    : owner_(owner),
      transport_(transport),
      answers_(answers),
      patience_(patience),
      timer_(transport.executor()) {}

void Writer::Write(std::string piece, int64_t held) {
  if (is_closed_) return answers_.Hold(-held);
  pieces_.push_back({std::move(piece), held});
  if (!is_writing_) WriteNext();
}

void Writer::WriteNext() {
  is_writing_ = true;
  unacknowledged_ = transport_.Unacknowledged();
  AwaitProgress();
  transport_.Write(absl::string_view(pieces_.front().bytes).substr(written_),
                   [this, kept = owner_.Keep()](size_t bytes) { OnWritten(bytes); });
}

void Writer::OnWritten(size_t bytes) {
  is_writing_ = false;
  if (is_closed_) return Drop();
  if (bytes == 0) return owner_.OnWriteFailed();
  written_ += bytes;
  const bool is_whole = written_ == pieces_.front().bytes.size();
  answers_.Taken(is_whole ? pieces_.front().held : 0);
  if (is_whole) {
    pieces_.pop_front();
    written_ = 0;
  }
  if (!pieces_.empty()) return WriteNext();
  ++timer_round_;
  timer_.cancel();
  owner_.OnAllWritten();
}

void Writer::Close() {
  if (std::exchange(is_closed_, true)) return;
  ++timer_round_;
  timer_.cancel();
  if (!is_writing_) Drop();  // else the kernel may be reading it
}

void Writer::Drop() {
  for (const Piece& piece : pieces_) answers_.Hold(-piece.held);
  pieces_.clear();
}

void Writer::AwaitProgress() {
  timer_.expires_after(absl::ToChronoNanoseconds(patience_));
  const std::weak_ptr<Owner> owner = owner_.Keep();
  timer_.async_wait([this, owner, round = ++timer_round_](const auto& error) {
    const auto kept = owner.lock();
    if (!error && kept != nullptr && round == timer_round_) OnTimeOut();
  });
}

// The kernel asks for more only when a good part of what it has was taken, which may take a slow
// reader longer.
void Writer::OnTimeOut() {
  const int64_t left = transport_.Unacknowledged();
  if (left >= std::exchange(unacknowledged_, left)) return owner_.OnWriteFailed();
  answers_.Taken(0);
  AwaitProgress();
}

}  // namespace skiplane::http
