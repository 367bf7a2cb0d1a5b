#include "server/net/acceptor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/sampled_event.h"
#include "server/net/socket_address.h"

namespace skiplane::net {
namespace {

constexpr int kRemoveEveryMs = 1000;
constexpr int kPauseMs = 100;  // after an error that the next try would meet, too
constexpr int kRationPauseMs = 10;
constexpr int kAtOnceMax = 64;
constexpr std::chrono::seconds kLogEvery(10);

void LogAccepted(int fd, int64_t connections) {
  static constinit base::SampledEvent event("connection_accepted");
  if (!event.Wanted()) return;
  event.Write({{"peer", SocketAddress::PeerOf(fd).Text()},
               {"connections", absl::StrCat(connections)}});
}

void LogClosed(int64_t closed, int64_t connections) {
  static constinit base::SampledEvent event("connections_closed");
  if (closed <= 0 || !event.Wanted()) return;
  event.Write({{"closed", absl::StrCat(closed)}, {"connections", absl::StrCat(connections)}});
}

// Whether all connections meet it, not only the one that was to be accepted.
bool IsShortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM ||
         error == EBADF || error == EINVAL || error == ENOTSOCK;
}

}  // namespace

Acceptor::Acceptor(ListenSockets sockets, ConnectionLimits limits, metrics::Metrics& metrics,
                   absl::string_view port)
    : sockets_(std::move(sockets)),
      metrics_(metrics),
      port_(port),
      wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      open_(limits) {
  Publish();
}

Acceptor::~Acceptor() {
  Stop();
  close(wake_fd_);
}

void Acceptor::Start(Take take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Run(); });
}

void Acceptor::Stop() {
  is_stopped_ = true;
  eventfd_write(wake_fd_, 1);
  if (thread_.joinable()) thread_.join();
  for (const Waiting& one : waiting_) close(one.fd);
  waiting_.clear();
  sockets_.Close();
}

void Acceptor::Run() {
  std::vector<pollfd> all = {{wake_fd_, POLLIN, 0}};
  for (const int fd : sockets_.fds()) all.push_back({fd, POLLIN, 0});
  bool can_accept = true;
  while (!is_stopped_) {
    // Without the sockets during a pause: who waits there would end it at once.
    const nfds_t count = can_accept ? all.size() : 1;
    const int pause = can_accept ? kRemoveEveryMs : kPauseMs;
    const int ready = poll(all.data(), count, waiting_.empty() ? pause : kRationPauseMs);
    RemoveIfDue();
    HandOnWaiting();
    can_accept = true;
    for (size_t i = 1; i < count && ready > 0 && !is_stopped_; ++i) {
      if (all[i].revents != 0) can_accept = AcceptAll(all[i].fd) && can_accept;
    }
  }
}

void Acceptor::RemoveIfDue() {
  const SteadyTime now = std::chrono::steady_clock::now();
  if (now < removal_due_) return;
  removal_due_ = now + std::chrono::milliseconds(kRemoveEveryMs);
  const int64_t before = open_.count();
  open_.RemoveClosed();
  Publish();
  LogClosed(before - open_.count(), open_.count());
}

bool Acceptor::AcceptAll(int listen_fd) {
  for (int i = 0; i < kAtOnceMax; ++i) {
    const int fd = accept4(listen_fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return AfterError(errno);
    Admit(listen_fd, fd);
  }
  return true;
}

void Acceptor::Suspect(const std::string& party) {
  suspects_.Add(party, std::chrono::steady_clock::now());
}

bool Acceptor::IsSuspect(const std::string& party) const {
  return suspects_.Has(party, std::chrono::steady_clock::now());
}

bool Acceptor::MayPass(const std::string& party) {
  if (ration_ == kUnbounded && waiting_.empty()) return true;
  if (!IsSuspect(party)) return true;
  return waiting_.empty() && SpendRation();
}

bool Acceptor::SpendRation() {
  int64_t left = ration_;
  while (left != kUnbounded && left > 0) {
    if (ration_.compare_exchange_weak(left, left - 1)) return true;
  }
  return left > 0;
}

void Acceptor::HandOnWaiting() {
  while (!waiting_.empty()) {
    const Waiting next = waiting_.front();
    const bool was_cut = SocketAddress::PeerOf(next.fd).family() == AF_UNSPEC;
    if (!was_cut && !SpendRation()) return;
    waiting_.pop_front();
    if (was_cut) {
      close(next.fd);
    } else {
      take_(next.listen_fd, next.fd);
    }
  }
}

void Acceptor::Admit(int listen_fd, int fd) {
  if (!IsPortCheck(fd)) {
    const SocketAddress peer = SocketAddress::PeerOf(fd);
    const std::string party = peer.Party();
    if (const auto room = open_.RoomFor(party); room != OpenConnections::Room::kFree) {
      return Refuse(fd, peer, room);
    }
    open_.Add(fd, party);
    Publish();
    LogAccepted(fd, open_.count());
    if (!MayPass(party)) {
      waiting_.push_back({listen_fd, fd});
      return;
    }
  }
  take_(listen_fd, fd);
}

bool Acceptor::IsPortCheck(int fd) const {
  const int expected = port_check_from_;
  if (expected == 0) return false;
  const SocketAddress caller = SocketAddress::PeerOf(fd);
  return caller.port() == expected && caller.HasHostOf(SocketAddress::OwnOf(fd));
}

void Acceptor::Refuse(int fd, const SocketAddress& peer, OpenConnections::Room room) {
  const linger reset = {1, 0};  // or the many closed connections would stay with the kernel
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  metrics_.ConnectionRefused(port_);  // before the caller can see it
  close(fd);
  ++refused_;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (now < may_log_refusal_) return;
  may_log_refusal_ = now + kLogEvery;
  const bool is_of_peer = room == OpenConnections::Room::kPartyIsFull;
  base::Log(base::LogLevel::kWarn, "connections_refused",
            {{"port", port_},
             {"refused", absl::StrCat(std::exchange(refused_, 0))},
             {"connections_max", absl::StrCat(is_of_peer ? open_.max_of_party() : open_.max())},
             {"peer", is_of_peer ? peer.Text() : ""},
             {"why", is_of_peer ? "as many connections as may are open from the address of this "
                                  "caller: use fewer, or a larger --address-share"
                                : "as many connections as may are open: use fewer, more brokers, "
                                  "or a larger --max-connections"}});
}

// What concerns a single connection, which is gone by now, is no error of ours.
bool Acceptor::AfterError(int error) {
  if (error == EAGAIN || error == EWOULDBLOCK || !IsShortage(error)) return true;
  metrics_.AcceptFailed(port_);
  const SteadyTime now = std::chrono::steady_clock::now();
  if (now < may_log_error_) return false;
  may_log_error_ = now + kLogEvery;
  base::Log(base::LogLevel::kError, "accept_failed",
            {{"port", port_},
             {"error", std::strerror(error)},
             {"connections", absl::StrCat(open_.count())},
             {"why", "new callers wait until there is room; tried again every 100 ms"}});
  return false;
}

void Acceptor::Publish() {
  metrics_.SetConnections(port_, open_.count(), open_.max());
}

}  // namespace skiplane::net
