#include "server/rpc/serve/watched_connection.h"

#include <algorithm>
#include <utility>

namespace skiplane::rpc {
namespace {

// Of the wire, beside what a call came with: frames, other headers, acknowledgements of windows;
// and of each 16 KiB of a body the heads of its frame and of its record of TLS.
constexpr int64_t kWireBytesOfCall = 512;
constexpr int64_t kWirePart = 256;
// Who takes less between two looks takes pings and heads, not answers.
constexpr int64_t kReadBytes = 4 << 10;

int64_t Explained(const CallTally::Counts& now, const CallTally::Counts& before) {
  const int64_t bytes = now.bytes - before.bytes;
  return bytes + bytes / kWirePart + (now.begun - before.begun) * kWireBytesOfCall;
}

}  // namespace

WatchedConnection::WatchedConnection(net::Connection connection, std::string address,
                                     std::string party, const CallTally::Counts& calls,
                                     SteadyTime now)
    : connection_(connection),
      address_(std::move(address)),
      party_(std::move(party)),
      calm_(calls),
      moved_(now),
      read_time_(now) {}

void WatchedConnection::Measure(int64_t received, const CallTally::Counts& calls, bool is_calm,
                                SteadyTime now) {
  const int64_t came = received - std::exchange(received_, received);
  bytes_ = std::max<int64_t>(bytes_ + came - Explained(calls, calls_), 0);
  if (calls.begun > calls_.begun || bytes_ == 0) moved_ = now;
  calls_ = calls;
  if (!is_calm) return;
  calm_ = calls;
  waited_behind_ = calls.under_way;
}

Held WatchedConnection::Judge(const std::optional<StreamCounts::Counts>& streams,
                              const CallTally::Counts& calls, int64_t unread, SteadyTime now) {
  Held held;
  held.unread = unread;
  held.answered = calls.answered;
  held.given_up = calls.given_up;
  judged_ = received_;
  if (!streams) return held;
  streams_ = streams->held();
  held.streams = std::max<int64_t>(streams->held() - calls.under_way, 0);
  held.leaving = std::clamp<int64_t>(waited_behind_ - calls.under_way, 0, held.streams);
  held.resets = std::max<int64_t>(
      calls.given_up - calm_.given_up - (calls.answered - calm_.answered), 0);
  // Neither headers nor bodies are under way: what came is gone, whatever it was.
  if (held.streams == 0) bytes_ = 0;
  held.bytes = bytes_;
  held.stalled = absl::FromChrono(now - moved_);
  return held;
}

void WatchedConnection::MeasureAnswers(int64_t acknowledged, const CallTally::Counts& calls,
                                       SteadyTime now) {
  answer_bytes_ = calls.answer_bytes;
  if (answer_bytes_ > 0 && calls.read == read_ && acknowledged - acknowledged_ < kReadBytes) return;
  read_ = calls.read;
  acknowledged_ = acknowledged;
  read_time_ = now;
}

Unread WatchedConnection::JudgeAnswers(SteadyTime now) const {
  return {answer_bytes_, absl::FromChrono(now - read_time_)};
}

bool WatchedConnection::TakeSeen() { return std::exchange(is_seen_, false); }

}  // namespace skiplane::rpc
