#include "server/pg/connections/connector.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/metrics/metrics.h"
#include "server/pg/errors.h"
#include "server/pg/refusals.h"
#include "server/pg/requirements.h"

namespace skiplane::pg {
namespace {

// Few: each pool has some, and pauses between attempts.
void LogBackend(bool is_connected, const Session& session) {
  if (!base::IsLogged(base::LogLevel::kDebug)) return;
  base::Log(base::LogLevel::kDebug, is_connected ? "database_connected" : "database_disconnected",
            {{"backend", absl::StrCat(session.backend_pid())}});
}

// What is asked of a new connection changes nothing: no caller's outcome is in doubt, and no other
// reason than an outage is why there is no connection.
absl::Status AsOutage(const absl::Status& status) {
  const bool is_one = absl::IsUnavailable(status) || absl::IsFailedPrecondition(status);
  return status.ok() || is_one ? status : NotConnected();
}

}  // namespace

Connector::Connector(ConnectOptions options, metrics::Metrics* metrics)
    : options_(std::move(options)), metrics_(metrics) {}

absl::StatusOr<std::unique_ptr<Session>> Connector::Open(
    absl::FunctionRef<bool()> is_outage) {
  const int64_t known = Known().shared;
  absl::StatusOr<std::unique_ptr<Session>> opened = Session::Open(options_, metrics_);
  if (!opened.ok()) return AsOutage(opened.status());
  std::unique_ptr<Session> session = *std::move(opened);
  LogBackend(true, *session);
  base::MutexLock is_checking(checking_);
  const bool must_check = is_outage();
  {
    base::MutexLock lock(mutex_);
    if (!must_check && shared_checked_ == known) return session;
  }
  RETURN_IF_ERROR(AsOutage(CheckNotShared(options_, *session)));
  base::MutexLock lock(mutex_);
  shared_checked_ = known;
  return session;
}

Connector::Doubts Connector::Known() const {
  base::MutexLock lock(mutex_);
  return doubts_;
}

absl::Status Connector::Recheck(Session& session, Doubts& known) {
  const Doubts now = Known();
  if (known.shared != now.shared) return ConnectionShared();
  const bool is_urgent = known.changed != now.changed;
  known = now;
  absl::Status status = is_urgent ? session.RecheckNow() : session.Recheck();
  if (!status.ok() && base::ReasonOf(status) != "DATABASE_UNAVAILABLE") {
    base::MutexLock lock(mutex_);
    ++doubts_.changed;
  }
  return status;
}

void Connector::GivenUp(const Session& session) {
  if (!session.alive()) LogBackend(false, session);
  if (!session.is_shared()) return;
  base::MutexLock lock(mutex_);
  ++doubts_.shared;
}

void Connector::Tell(const absl::Status& outage) const {
  const std::string reason = base::ReasonOf(outage);
  if (metrics_ != nullptr) metrics_->SetDatabaseOutage(reason);
  if (outage.ok()) {
    base::Log(base::LogLevel::kInfo, "database_usable");
  } else {
    base::Log(base::LogLevel::kWarn, "database_unusable",
              {{"reason", reason}, {"message", std::string(outage.message())}});
  }
}

}  // namespace skiplane::pg
