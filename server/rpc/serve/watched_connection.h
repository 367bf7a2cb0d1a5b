// What the watch of floods knows of one connection: of the bytes that came those that no call came
// with, and of its streams those that no call waits behind. Sums only, so that it is tested without
// connections. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "server/net/connection.h"
#include "server/rpc/call/call_tally.h"
#include "server/rpc/serve/flood_rules.h"
#include "server/rpc/serve/stream_counts.h"

namespace skiplane::rpc {

class WatchedConnection {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // `calls`: what was counted so far of its address, most often by calls that came before it was
  // looked at: their bytes are explained when it is measured first.
  WatchedConnection(net::Connection connection, std::string address, std::string party,
                    const CallTally::Counts& calls, SteadyTime now);

  const net::Connection& connection() const { return connection_; }
  // As gRPC spells it.
  const std::string& address() const { return address_; }
  // See net::SocketAddress::Party().
  const std::string& party() const { return party_; }
  int64_t received() const { return received_; }

  // `received`: bytes, ever. `is_calm`: memory is not short.
  void Measure(int64_t received, const CallTally::Counts& calls, bool is_calm, SteadyTime now);

  // `acknowledged`: bytes, ever, that the peer has received.
  void MeasureAnswers(int64_t acknowledged, const CallTally::Counts& calls, SteadyTime now);
  Unread JudgeAnswers(SteadyTime now) const;

  // Whether gRPC is to be asked for the streams of a connection that is judged: it costs.
  bool IsBusy() const { return received_ != judged_ || streams_ > 0; }
  // `streams`: of gRPC; nothing if it was not asked, or does not know the connection.
  Held Judge(const std::optional<StreamCounts::Counts>& streams, const CallTally::Counts& calls,
             int64_t unread, SteadyTime now);

  // gRPC keeps the descriptor of a connection that was cut until its last call has ended.
  void SetCut() { is_cut_ = true; }
  bool is_cut() const { return is_cut_; }

  // Marks it as one that is there in this round; whether it was marked since this was last called.
  void SetSeen() { is_seen_ = true; }
  bool TakeSeen();

 private:
  net::Connection connection_;
  std::string address_;
  std::string party_;
  int64_t received_ = 0;
  int64_t bytes_ = 0;        // of that, what no call came with
  CallTally::Counts calls_;  // when it was measured last
  CallTally::Counts calm_;   // when memory was not short, or it was looked at first
  int64_t waited_behind_ = 0;  // streams, by calls, when memory was not short
  int64_t judged_ = 0;       // of what was received, when it was judged last
  int64_t streams_ = 0;      // that gRPC held then
  SteadyTime moved_;         // when a call came last, or it held no bytes
  int64_t answer_bytes_ = 0;   // that it has to read
  int64_t read_ = 0;           // answers, when it read last
  int64_t acknowledged_ = 0;   // then
  SteadyTime read_time_;       // that, or when it had nothing to read
  bool is_cut_ = false;
  bool is_seen_ = true;
};

}  // namespace skiplane::rpc
