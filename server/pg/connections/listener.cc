#include "server/pg/connections/listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <pqxx/pqxx>
#include <thread>

#include "server/base/mutex.h"
#include "server/metrics/metrics.h"
#include "server/pg/backoff.h"
#include "server/pg/errors.h"
#include "server/pg/link.h"

namespace skiplane::pg {
namespace {

using Clock = std::chrono::steady_clock;

constexpr absl::string_view kStatement = "listen";
constexpr std::chrono::seconds kCheckInterval(10);
constexpr std::chrono::seconds kStopWithin(1);
// A connection that lived less than this does not end the back-off.
constexpr std::chrono::seconds kStable(2);

class Receiver : public pqxx::notification_receiver {
 public:
  // Sends LISTEN.
  Receiver(pqxx::connection_base& connection, const std::string& channel,
           Listener::OnNotify& on_notify)
      : notification_receiver(connection, channel), on_notify_(on_notify) {}

  void operator()(const std::string& payload, int) override { on_notify_(payload); }

 private:
  Listener::OnNotify& on_notify_;
};

// A one-way switch that poll() can wait for.
class StopSignal {
 public:
  StopSignal() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~StopSignal() { close(fd_); }
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  void Set() { eventfd_write(fd_, 1); }

  // Waits until it is set, `socket` is readable or the deadline passed; `socket` may be -1.
  // Returns whether it is set.
  bool Wait(int socket, Clock::time_point deadline) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd fds[] = {{fd_, POLLIN, 0}, {socket, POLLIN, 0}};
    poll(fds, 2, static_cast<int>(std::max<int64_t>(0, left.count())));
    return fds[0].revents != 0;
  }

 private:
  const int fd_;
};

}  // namespace

struct Listener::State {
  void Loop();
  void Listen(Link& link);
  void Hear(Link& link);
  void Tell(bool listening);
  void Count(absl::string_view sqlstate_class);

  ConnectOptions options;
  std::string channel;
  metrics::Metrics* metrics = nullptr;
  OnNotify on_notify;
  OnState on_state;

  StopSignal stop;
  bool is_listening = false;  // as told last; the thread's own
  base::Mutex joining;
  std::thread thread ABSL_GUARDED_BY(joining);
};

void Listener::State::Count(absl::string_view sqlstate_class) {
  if (metrics != nullptr) metrics->DatabaseError(sqlstate_class);
}

void Listener::State::Tell(bool listening) {
  if (listening == is_listening) return;
  is_listening = listening;
  if (on_state) on_state(listening);
}

// Returns when the listener stops; throws when the connection is lost.
void Listener::State::Hear(Link& link) {
  pqxx::connection& connection = link.connection();
  const std::chrono::nanoseconds patience = absl::ToChronoNanoseconds(options.tcp_user_timeout);
  link.watchdog().Arm(patience);
  const Receiver receiver(connection, channel, on_notify);
  link.watchdog().Disarm();
  Tell(true);
  Clock::time_point next_check = Clock::now() + kCheckInterval;
  while (true) {
    // Also before the first wait: what came with an answer is not announced by the socket again.
    connection.get_notifs();
    if (link.HungUp()) throw pqxx::broken_connection();
    if (stop.Wait(connection.sock(), next_check)) {
      link.watchdog().EndWithin(kStopWithin);  // the receiver ends with a statement
      return;
    }
    if (Clock::now() < next_check) continue;
    next_check = Clock::now() + kCheckInterval;
    link.watchdog().Arm(patience);
    pqxx::nontransaction(connection).exec("SELECT 1");
    link.watchdog().Disarm();
  }
}

void Listener::State::Listen(Link& link) {
  try {
    Hear(link);
  } catch (...) {
    const FailedStatement failed{kStatement, link.connection().is_open(), false};
    Count(ExplainException(failed).sqlstate_class);
    Tell(false);
  }
}

void Listener::State::Loop() {
  Backoff backoff;
  do {
    const Clock::time_point start = Clock::now();
    const absl::StatusOr<std::unique_ptr<Link>> link = Link::Open(options);
    if (!link.ok()) {
      Count("08");
      continue;
    }
    Listen(**link);
    if (Clock::now() - start > kStable) backoff.Reset();
  } while (!stop.Wait(-1, Clock::now() + backoff.Next()));
}

Listener::Listener(ConnectOptions options, std::string channel, OnNotify on_notify,
                   OnState on_state, metrics::Metrics* metrics)
    : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  state_->channel = std::move(channel);
  state_->metrics = metrics;
  state_->on_notify = std::move(on_notify);
  state_->on_state = std::move(on_state);
  base::MutexLock lock(state_->joining);
  state_->thread = std::thread([state = state_.get()] { state->Loop(); });
}

Listener::~Listener() { Stop(); }

void Listener::Stop() {
  state_->stop.Set();
  base::MutexLock lock(state_->joining);
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace skiplane::pg
