// Opens a pool's connections, and finds out when their server is not one for a broker any more.
//
// What one session finds the others look for at once; where connections turn out to be shared, all
// are given up, as none can know whose it has. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/pg/session.h"

namespace skiplane::pg {

class Connector {
 public:
  // How often sessions found that their server had changed, or that others use their connection.
  struct Doubts {
    int64_t changed = 0;
    int64_t shared = 0;
  };

  // `metrics` may be null.
  Connector(ConnectOptions options, metrics::Metrics* metrics);

  // As Session::Open. The first one after an outage, or after a pooler was met, looks longer: what
  // it finds may be another server, or pooler, than before. `is_outage` says if no session works.
  absl::StatusOr<std::unique_ptr<Session>> Open(absl::FunctionRef<bool()> is_outage);

  // What a session that was opened just now need not look for.
  Doubts Known() const;

  // Why the session is of no use any more. `known` is its own.
  absl::Status Recheck(Session& session, Doubts& known);

  // To be called when a session is given up.
  void GivenUp(const Session& session);

  // Tells operators of an outage that began or changed; OK: it ended.
  void Tell(const absl::Status& outage) const;

 private:
  const ConnectOptions options_;
  metrics::Metrics* const metrics_;
  base::Mutex checking_ ABSL_ACQUIRED_BEFORE(mutex_);  // one looks longer; the others need not then
  mutable base::Mutex mutex_;
  Doubts doubts_ ABSL_GUARDED_BY(mutex_);
  int64_t shared_checked_ ABSL_GUARDED_BY(mutex_) = 0;  // after so many of them all was well
};

}  // namespace skiplane::pg
