// Accepts connections and passes them on, up to a limit of open ones, in all and from one address.
//
// Beyond that, a connection is accepted and closed at once: its caller sees UNAVAILABLE without a
// wait, and tries another broker or reconnects. So accepting never runs out of descriptors by
// itself. If something else in the process does, or the machine is short of memory, it pauses and
// goes on. It can be told to hand on few of those of suspects for a while; the others wait, and
// take nothing but a descriptor. One thread, from Start() to Stop().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "absl/strings/string_view.h"
#include "server/metrics/metrics.h"
#include "server/net/listen_sockets.h"
#include "server/net/open_connections.h"
#include "server/net/socket_address.h"
#include "server/net/suspects.h"

namespace skiplane::net {

class Acceptor {
 public:
  // Gets a connection that is its own from then on, and the socket that it came by. Called on the
  // acceptor's thread.
  using Take = std::function<void(int listen_fd, int fd)>;

  // `port`: what the metrics and the log call it: grpc, http or metrics. `metrics` must outlive
  // this.
  Acceptor(ListenSockets sockets, ConnectionLimits limits, metrics::Metrics& metrics,
           absl::string_view port);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  void Start(Take take);

  // No connection is handed on after this, and the port is free. Idempotent.
  void Stop();

  const ListenSockets& sockets() const { return sockets_; }

  // From any thread.
  const OpenConnections& connections() const { return open_; }

  // From now on so many connections of suspects are handed on until this is called again; others
  // wait. kUnbounded: all, as at first. From any thread.
  void Ration(int64_t connections) { ration_ = connections; }
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
  // A connection of this party was cut. From any thread.
  void Suspect(const std::string& party);
  bool IsSuspect(const std::string& party) const;

  // The port from which this process is about to connect to its own, to see whether it answers:
  // such a connection is let in and not counted. 0: none. From any thread.
  void ExpectPortCheck(int from_port) { port_check_from_ = from_port; }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  void Run();
  void RemoveIfDue();
  // Returns false if nothing can be accepted for a while.
  bool AcceptAll(int listen_fd);
  // Of `party`: unless it has to wait.
  bool MayPass(const std::string& party);
  bool SpendRation();
  void HandOnWaiting();
  void Admit(int listen_fd, int fd);
  bool IsPortCheck(int fd) const;
  void Refuse(int fd, const SocketAddress& peer, OpenConnections::Room room);
  bool AfterError(int error);
  void Publish();

  ListenSockets sockets_;
  metrics::Metrics& metrics_;
  const std::string port_;
  Take take_;
  std::atomic<int> port_check_from_ = 0;
  std::atomic<int64_t> ration_ = kUnbounded;
  std::atomic<bool> is_stopped_ = false;
  const int wake_fd_;
  std::thread thread_;
  OpenConnections open_;
  Suspects suspects_;
  // Of the thread.
  struct Waiting {
    int listen_fd;
    int fd;
  };
  std::deque<Waiting> waiting_;  // the longest first
  SteadyTime removal_due_;
  int64_t refused_ = 0;  // since the last line of the log
  SteadyTime may_log_refusal_;
  SteadyTime may_log_error_;
};

}  // namespace skiplane::net
