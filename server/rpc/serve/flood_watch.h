// Watches the memory of the process, and cuts the connections that flood it when it is short. One
// thread, from construction to destruction.
//
// gRPC 1.51 bounds neither resets, nor header blocks that do not end, nor bodies that are never
// complete. Nothing is asked of gRPC or of the calls while memory is as it should be; once a second
// the kernel is asked how much each connection sent.
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
#include "server/net/open_connections.h"
#include "server/rpc/call/call_tally.h"
#include "server/rpc/call/in_flight.h"
#include "server/rpc/serve/flood_rules.h"
#include "server/rpc/serve/stream_counts.h"

namespace skiplane::rpc {

class FloodWatch {
 public:
  // All outlive this.
  FloodWatch(const net::OpenConnections& open, CallTally& tally, const InFlight& in_flight,
             metrics::Metrics& metrics);
  ~FloodWatch();
  FloodWatch(const FloodWatch&) = delete;
  FloodWatch& operator=(const FloodWatch&) = delete;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  struct Watched {
    net::Connection connection;
    std::string address;  // as gRPC spells it
    int64_t received = 0;
    int64_t explained = 0;  // of that, by calls
    int64_t bytes = 0;      // the rest
    // When gRPC was asked last:
    int64_t judged = 0;   // of what was received
    int64_t streams = 0;  // that it held
    int64_t failed = 0;
    int64_t answered = 0;
    SteadyTime moved;       // when a call came last, or it held no bytes
    bool is_cut = false;    // gRPC keeps its descriptor until its last call has ended
    bool is_seen = false;   // in this round
  };

  void Run();
  // Returns false if the connection has ended.
  bool Measure(Watched* watched, SteadyTime now);
  void MeasureAll(SteadyTime now);
  void LookForFloods(int64_t memory, SteadyTime now);
  Held Judge(Watched* watched, SteadyTime now);
  void Cut(Watched& watched, const Held& held, absl::string_view reason);
  int64_t Allowed() const;
  void Trim(SteadyTime now);

  const net::OpenConnections& open_;
  CallTally& tally_;
  const InFlight& in_flight_;
  metrics::Metrics& metrics_;
  StreamCounts streams_;
  absl::flat_hash_map<ino_t, Watched> watched_;
  base::SecondLimit may_log_;
  SteadyTime measure_due_;
  SteadyTime trim_due_;
  const int end_fd_;
  std::thread thread_;
};

}  // namespace skiplane::rpc
