// Watches the memory of the process, and cuts the connections that flood it when it is short, and
// those that read no answers when these take the room of others'. One thread, from construction to
// destruction.
//
// gRPC 1.51 bounds neither resets, nor header blocks that do not end, nor bodies that are never
// complete. Nothing is asked of gRPC while memory is as it should be; once a second the kernel is
// asked how much each connection sent, and the calls how much of that they came with.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/base/sampled_event.h"
#include "server/metrics/metrics.h"
#include "server/net/acceptor.h"
#include "server/rpc/call/call_tally.h"
#include "server/rpc/call/in_flight.h"
#include "server/rpc/serve/flood_rules.h"
#include "server/rpc/serve/stream_counts.h"
#include "server/rpc/serve/watched_connection.h"

namespace skiplane::rpc {

class FloodWatch {
 public:
  // All outlive this.
  FloodWatch(net::Acceptor& acceptor, CallTally& tally, const InFlight& in_flight,
             metrics::Metrics& metrics);
  ~FloodWatch();
  FloodWatch(const FloodWatch&) = delete;
  FloodWatch& operator=(const FloodWatch&) = delete;

 private:
  using SteadyTime = WatchedConnection::SteadyTime;

  void Run();
  void MeasureAll(SteadyTime now, bool is_calm);
  void Measure(const net::Connection& connection, SteadyTime now, bool is_calm);
  void SweepIfDue(SteadyTime now);
  void CutWhoReadsNothing(SteadyTime now);
  // Returns whether there is one.
  bool LookForFloods(int64_t memory, SteadyTime now);
  Held Judge(WatchedConnection* watched, bool asks_unread, SteadyTime now);
  void Cut(WatchedConnection& watched, const Held& held, absl::string_view reason);
  void Ration(int64_t remains, SteadyTime now);
  int64_t Allowed() const;
  void Trim(SteadyTime now);

  net::Acceptor& acceptor_;
  const net::OpenConnections& open_;
  CallTally& tally_;
  const InFlight& in_flight_;
  metrics::Metrics& metrics_;
  StreamCounts streams_;
  absl::flat_hash_map<ino_t, WatchedConnection> watched_;
  base::SecondLimit may_log_;
  SteadyTime measure_due_;
  SteadyTime sweep_due_;
  SteadyTime trim_due_;
  SteadyTime accept_due_;
  SteadyTime cut_;  // when one was last
  const int end_fd_;
  std::thread thread_;
};

}  // namespace skiplane::rpc
