// Connects to the server's own port every few seconds, as a client would, to learn whether new
// connections are answered: existing ones do not show that.
//
// Answered means: the first bytes of a handshake came. With TLS it begins a handshake and does not
// finish it, because it may have no certificate that the server accepts. One thread, from
// construction to destruction.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "server/net/socket_address.h"

namespace skiplane::rpc {

class PortCheck {
 public:
  struct Options {
    int listen_fd = -1;  // where the server listens; its address is read in the constructor
    bool tls = false;
    absl::Duration every = absl::Seconds(5);
    absl::Duration after_failure = absl::Seconds(1);
    absl::Duration patience = absl::Seconds(2);  // for one answer
    int failures_max = 3;                        // in a row, until the port does not answer
  };

  // Called on the thread of the checks.
  struct Listener {
    // The port that the next connection comes from; 0: none comes.
    std::function<void(int from_port)> expect;
    // At each change; it is taken to answer at first.
    std::function<void(bool answers)> tell;
  };

  PortCheck(const Options& options, Listener listener);
  // Returns soon, also in the middle of a check.
  ~PortCheck();
  PortCheck(const PortCheck&) = delete;
  PortCheck& operator=(const PortCheck&) = delete;

 private:
  void Run();
  void Note(const std::string& error);
  // What went wrong; empty if the port answered.
  std::string Check();
  std::string Converse(int fd);
  // False if that did not come in time, or the thread is to end.
  bool Await(int fd, short events, absl::Time deadline) const;

  const Options options_;
  const Listener listener_;
  const std::string hello_;
  const net::SocketAddress target_;
  int failures_ = 0;
  const int end_fd_;
  std::atomic<bool> is_ended_ = false;
  std::thread thread_;
};

}  // namespace skiplane::rpc
