#include "server/http/server.h"

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/http/byte_budget.h"
#include "server/http/connection.h"
#include "server/http/connection_set.h"
#include "server/http/peer.h"
#include "server/http/tls_context.h"
#include "server/http/workers.h"
#include "server/net/acceptor.h"
#include "server/net/socket_address.h"

namespace skiplane::http {
namespace {

constexpr std::chrono::seconds kLetGo(10);

}  // namespace

struct Server::State {
  State(net::ListenSockets sockets, const Limits& limits_in, Handler& handler_in,
        metrics::Metrics& metrics_in)
      : limits(limits_in),
        handler(handler_in),
        metrics(metrics_in),
        port(sockets.port()),
        acceptor(std::move(sockets), {limits.connections, limits.address_share}, metrics,
                 limits.port) {}

  void Take(int fd) {
    const net::SocketAddress peer = net::SocketAddress::PeerOf(fd);
    std::unique_ptr<Transport> transport = Transport::Of(io, fd, tls.Get());
    if (transport == nullptr) return metrics.AcceptFailed(limits.port);
    const auto connection = std::make_shared<Connection>(
        std::move(transport), Connection::Peer{AddressOfPeer(peer), peer.Party()},
        Connection::Shared{limits, handler, set, bytes, workers});
    set.Add(connection);
    connection->Start();
  }

  void ForAll(void (Connection::*act)()) {
    for (const std::shared_ptr<Connection>& connection : set.All()) {
      boost::asio::post(connection->executor(), [connection, act] { (*connection.*act)(); });
    }
  }

  void BeginDrain() {
    set.BeginDrain();
    ForAll(&Connection::EndWhenAnswered);
  }

  void Stop(absl::Duration patience) {
    const auto now = std::chrono::steady_clock::now();
    acceptor.Stop();
    BeginDrain();
    set.WaitForNone(now + absl::ToChronoNanoseconds(patience));
    ForAll(&Connection::Close);
    // Whoever holds the exchange of a call lets go of it once it is told.
    if (!set.WaitForNone(std::chrono::steady_clock::now() + kLetGo)) {
      base::Log(base::LogLevel::kError, "http_calls_left", {{"port", limits.port}});
    }
    workers.Stop();
    work.reset();  // the threads end with the last thing that is under way
    for (std::thread& thread : threads) thread.join();
  }

  const Limits limits;
  Handler& handler;
  metrics::Metrics& metrics;
  TlsContext tls;
  ConnectionSet set;
  ByteBudget bytes{limits.bytes, limits.address_share, limits.port, metrics};
  const int port;
  boost::asio::io_context io{limits.threads};  // what is left in it refers to the above
  Workers workers{limits.workers, limits.quick_body_bytes};  // likewise, and to it
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  net::Acceptor acceptor;
  std::vector<std::thread> threads;
  std::once_flag stopped;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    net::ListenSockets sockets, const std::optional<net::TlsIdentity>& identity,
    const Limits& limits, Handler& handler, metrics::Metrics& metrics) {
  RETURN_IF_ERROR(sockets.Listen());
  auto state = std::make_unique<State>(std::move(sockets), limits, handler, metrics);
  if (identity) RETURN_IF_ERROR(state->tls.Replace(*identity));
  for (int i = 0; i < limits.threads; ++i) {
    state->threads.emplace_back([&io = state->io] { io.run(); });
  }
  state->acceptor.Start([state = state.get()](int, int fd) { state->Take(fd); });
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() { Stop(absl::ZeroDuration()); }

int Server::port() const { return state_->port; }

absl::Status Server::ReplaceTls(const net::TlsIdentity& identity) {
  return state_->tls.Replace(identity);
}

void Server::BeginDrain() { state_->BeginDrain(); }

void Server::Stop(absl::Duration patience) {
  std::call_once(state_->stopped, [&] { state_->Stop(patience); });
}

}  // namespace skiplane::http
