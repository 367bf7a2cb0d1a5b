#include "server/pg/link.h"

#include <poll.h>

#include "absl/time/clock.h"
#include "server/base/log.h"
#include "server/base/mutex.h"
#include "server/pg/conninfo.h"
#include "server/pg/errors.h"

namespace skiplane::pg {
namespace {

// During an outage every connection fails several times a second; one line in ten seconds, or a new
// cause, tells as much.
class ConnectLog {
 public:
  void Failed(absl::string_view message) {
    const absl::Time now = absl::Now();
    {
      base::MutexLock lock(mutex_);
      if (message == last_ && now - last_time_ < absl::Seconds(10)) return;
      last_ = std::string(message);
      last_time_ = now;
    }
    base::Log(base::LogLevel::kWarn, "connect_failed", {{"message", std::string(message)}});
  }

 private:
  base::Mutex mutex_;
  std::string last_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_time_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

ConnectLog& TheConnectLog() {
  static ConnectLog* const log = new ConnectLog;
  return *log;
}

}  // namespace

Link::Link(const std::string& conninfo, const ConnectOptions& options)
    : connection_(conninfo), watchdog_(connection_.sock()), quiet_(connection_) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  // The only way to forbid it: a silent reconnect would lose the settings.
  connection_.inhibit_reactivation(true);
#pragma GCC diagnostic pop
  // Terse leaves DETAIL and CONTEXT out of what() already at the source.
  connection_.set_verbosity(pqxx::connection_base::terse);
  pqxx::nontransaction work(connection_);
  watchdog_.Arm(absl::ToChronoNanoseconds(options.connect_timeout));
  work.exec(SessionSettings(options));
  watchdog_.Disarm();
}

absl::StatusOr<std::unique_ptr<Link>> Link::Open(const ConnectOptions& options) {
  const absl::StatusOr<std::string> conninfo = Conninfo(options);
  if (!conninfo.ok()) return conninfo.status();
  try {
    return std::unique_ptr<Link>(new Link(*conninfo, options));
  } catch (const std::exception& error) {
    TheConnectLog().Failed(PrimaryMessage(error.what()));
    return NotConnected();
  }
}

bool Link::HungUp() const {
  pollfd socket{connection_.sock(), POLLIN | POLLRDHUP, 0};
  if (socket.fd < 0) return true;
  return poll(&socket, 1, 0) > 0 &&
         (socket.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace skiplane::pg
