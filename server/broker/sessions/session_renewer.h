// Heartbeats: gathers those of many workers into one statement, and says of each lease whether the
// worker still holds it. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/broker/api/calls.h"
#include "server/broker/batch/batcher.h"
#include "server/broker/batch/context.h"
#include "server/broker/sessions/session_cache.h"

namespace skiplane::broker {

class SessionRenewer {
 public:
  SessionRenewer(Context& context, SessionCache& sessions);

  void Heartbeat(HeartbeatCall call, Callback<HeartbeatAnswer> done);

  // A Lease call moves a living session ahead, too, whether it gets tasks or not. Nobody waits for
  // it; nothing is sent while the session is known to live long enough.
  void Renew(const std::string& worker_id, absl::Duration duration);

  // Heartbeats no longer wait for others. For the time after the timer has stopped.
  void EndMinInterval();

 private:
  struct Pending {
    HeartbeatCall call;
    Callback<HeartbeatAnswer> done;
  };

  void Run(absl::StatusOr<pg::Session*> session, std::vector<Pending> heartbeats);

  Context& context_;
  SessionCache& sessions_;
  Batcher<Pending> batcher_;
};

}  // namespace skiplane::broker
