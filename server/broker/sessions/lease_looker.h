// Looks at leases for workers with a stream, when somebody took some from any worker: gathers those
// of many streams into few statements. And passes on which sessions are gone. Thread-safe.
#pragma once

#include <vector>

#include "server/base/mutex.h"
#include "server/broker/api/open_session.h"
#include "server/broker/batch/batcher.h"
#include "server/broker/batch/context.h"

namespace skiplane::broker {

class LeaseLooker {
 public:
  explicit LeaseLooker(Context& context);

  void Look(std::vector<model::LeaseToken> leases, Callback<std::vector<model::LeaseState>> done);

  // See Broker::WhenLeasesAreTaken.
  void WhenTaken(LeasesTaken taken);
  // Leases were taken: it is told soon, once for all that come until then.
  void Taken();

  // See Broker::WhenSessionsAreGone.
  void WhenGone(SessionsGone gone);
  void Gone(absl::Span<const model::SessionId> sessions);

 private:
  struct Pending {
    std::vector<model::LeaseToken> leases;
    Callback<std::vector<model::LeaseState>> done;
  };

  void Run(absl::StatusOr<pg::Session*> session, std::vector<Pending> looks);
  void Tell();

  Context& context_;
  Batcher<Pending> batcher_;
  base::Mutex mutex_;
  bool is_armed_ ABSL_GUARDED_BY(mutex_) = false;
  LeasesTaken taken_ ABSL_GUARDED_BY(mutex_);
  SessionsGone gone_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
