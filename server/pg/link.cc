#include "server/pg/link.h"

#include <poll.h>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/pg/conninfo.h"
#include "server/pg/errors.h"
#include "server/pg/log_limit.h"
#include "server/pg/refusals.h"

namespace skiplane::pg {
namespace {

// During an outage every connection fails several times a second.
void LogFailure(absl::string_view message) {
  static LogLimit* const limit = new LogLimit;
  if (!limit->Allows(message)) return;
  base::Log(base::LogLevel::kWarn, "connect_failed", {{"message", std::string(message)}});
}

}  // namespace

Link::Link(const std::string& conninfo, const ConnectOptions& options)
    : connection_(conninfo),
      requirements_(options),
      watchdog_(connection_.sock()),
      quiet_(connection_) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  // The only way to forbid it: a silent reconnect would lose the settings.
  connection_.inhibit_reactivation(true);
#pragma GCC diagnostic pop
  // Terse leaves DETAIL and CONTEXT out of what() already at the source.
  connection_.set_verbosity(pqxx::connection_base::terse);
  pqxx::nontransaction work(connection_);
  watchdog_.Arm(absl::ToChronoNanoseconds(options.connect_timeout));
  work.exec(absl::StrCat(SessionSettings(options), "; ", requirements_.MarkStatement()));
  watchdog_.Disarm();
}

absl::StatusOr<std::unique_ptr<Link>> Link::Open(const ConnectOptions& options) {
  const absl::StatusOr<std::string> conninfo = Conninfo(options);
  if (!conninfo.ok()) return conninfo.status();
  try {
    std::unique_ptr<Link> link(new Link(*conninfo, options));
    link->watchdog().Arm(absl::ToChronoNanoseconds(options.connect_timeout));
    RETURN_IF_ERROR(link->CheckRequirements());
    RETURN_IF_ERROR(link->CheckSchema());
    link->watchdog().Disarm();
    return link;
  } catch (const pqxx::insufficient_privilege& error) {
    LogFailure(PrimaryMessage(error.what()));
    return PermissionDenied(PrimaryMessage(error.what()));
  } catch (const std::exception& error) {
    absl::Status why = ExplainNoConnection(error.what());
    if (base::ReasonOf(why) == "DATABASE_UNAVAILABLE") LogFailure(PrimaryMessage(error.what()));
    return why;
  }
}

bool Link::HungUp() const {
  pollfd socket{connection_.sock(), POLLIN | POLLRDHUP, 0};
  if (socket.fd < 0) return true;
  return poll(&socket, 1, 0) > 0 &&
         (socket.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace skiplane::pg
